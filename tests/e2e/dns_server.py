"""A DNS server (UDP; A, AAAA, MX, PTR and TXT) whose every answer has a time to live of 0."""

import ipaddress
import socket
import struct
import threading

A, PTR, MX, TXT, AAAA = 1, 12, 15, 16, 28


class DnsServer:
    """`names` maps a name to a list of answers, each a list of addresses; queries of one family walk through
    them and round again, so that a name can be one thing when it is checked and another at the connection."""

    def __init__(self):
        self.names, self.turns, self.queries = {}, {}, 0
        self.mx = {}  # of a domain: [(preference, host)]
        self.ptr, self.txt = {}, {}  # of a name: the one name, the one text
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                query, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            self.queries += 1
            self.socket.sendto(self._answer(query), peer)

    def _answer(self, query):
        labels, i = [], 12
        while query[i]:
            labels.append(query[i + 1:i + 1 + query[i]].decode("latin-1").lower())
            i += 1 + query[i]
        question, kind = query[12:i + 5], struct.unpack(">H", query[i + 1:i + 3])[0]
        name = ".".join(labels)
        if kind == MX and name in self.mx:
            return self._mail_hosts(query, question, self.mx[name])
        if kind == PTR and name in self.ptr:
            return self._one(query, question, kind, self._name(self.ptr[name]))
        if kind == TXT and name in self.txt:
            text = self.txt[name].encode()
            return self._one(query, question, kind, bytes([len(text)]) + text)
        answers = self.names.get(name)
        if answers is None:
            return query[:2] + b"\x81\x83" + struct.pack(">HHHH", 1, 0, 0, 0) + question
        turn = self.turns.get((name, kind), 0)
        self.turns[name, kind] = turn + 1
        records = b""
        count = 0
        for text in answers[turn % len(answers)]:
            address = ipaddress.ip_address(text)
            if (address.version == 4) == (kind == A) and kind in (A, AAAA):
                records += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(address.packed)) + address.packed
                count += 1
        return query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, count, 0, 0) + question + records

    @staticmethod
    def _mail_hosts(query, question, hosts):
        records = b""
        for preference, host in hosts:
            data = struct.pack(">H", preference) + DnsServer._name(host)
            records += b"\xc0\x0c" + struct.pack(">HHIH", MX, 1, 0, len(data)) + data
        return query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, len(hosts), 0, 0) + question + records

    @staticmethod
    def _name(name):
        labels = [label.encode() for label in name.split(".") if label]
        return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"

    @staticmethod
    def _one(query, question, kind, data):
        record = b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
        return query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, 1, 0, 0) + question + record

    def close(self):
        self.socket.close()
