#!/usr/bin/python3
"""Addresses verified a second, and the CPU that one takes, beside what one would write in Python: smtplib and dnspython
with threads. Both ask the same mail server (asyncio, another process) and the same DNS server, in one run.

    bench/email/run.py [--build build/release] [--domains 50] [--addresses 20] [--threads 16] [--json FILE]

Each domain has `--addresses` of which half exist. Both sides decide about an address by its own reply and by an address that
should not exist. The CPU is the asking process's alone."""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import resource
import secrets
import smtplib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/lib"))
sys.path.insert(0, str(ROOT / "tests/e2e"))
import needs  # noqa: E402

needs.modules("python3-dnspython", "dns")
HOST = "127.0.0.1"


async def serve_mail(port):
    async def talk(reader, writer):
        writer.write(b"220 mx ready\r\n")
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"EHLO":
                writer.write(b"250-mx\r\n250 ENHANCEDSTATUSCODES\r\n")
            elif verb == b"RCPT":
                known = re.search(rb"<(known[0-9]+|postmaster)@", line)
                writer.write(b"250 2.1.5 ok\r\n" if known else b"550 5.1.1 unknown\r\n")
            elif verb == b"QUIT":
                writer.write(b"221 bye\r\n")
                break
            else:
                writer.write(b"250 2.0.0 ok\r\n")
        writer.close()

    server = await asyncio.start_server(talk, HOST, port, backlog=1024)
    await server.serve_forever()


def serve(port, domains, dns_address):
    from dns_server import DnsServer

    dns = DnsServer()
    dns.names["mx.test"] = [[HOST]]
    for domain in domains:
        dns.mx[domain] = [(10, "mx.test")]
    dns_address.put(dns.address)
    asyncio.run(serve_mail(port))


def ask_in_python(domain, addresses, port, dns):
    """One connection a domain, as a careful author would do it."""
    import dns.resolver as dns_resolver

    resolver = dns_resolver.Resolver(configure=False)
    resolver.nameservers, resolver.port = [dns[0]], dns[1]
    host = str(sorted(resolver.resolve(domain, "MX"), key=lambda mx: mx.preference)[0].exchange)
    address = str(resolver.resolve(host, "A")[0])
    verdicts = {}
    for begin in range(0, len(addresses), 14):
        smtp = smtplib.SMTP(timeout=30)
        smtp.connect(address, port)
        smtp.ehlo("verify.example")
        smtp.mail("postmaster@verify.example")
        codes = {one: smtp.rcpt(one)[0] for one in addresses[begin:begin + 14]}
        control = smtp.rcpt(f"{secrets.token_hex(8)}@{domain}")[0]
        smtp.quit()
        for one, code in codes.items():
            verdicts[one] = "NOT_FOUND" if code == 550 else "OK" if control == 550 else "UNKNOWN"
    return verdicts


def python_side(by_domain, port, dns, threads):
    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(lambda item: ask_in_python(*item, port, dns), by_domain.items()))
    return {address: verdict for part in results for address, verdict in part.items()}


def measured(work):
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    verdicts = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return verdicts, time.monotonic() - begin, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--domains", type=int, default=50)
    parser.add_argument("--addresses", type=int, default=20)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--linger", type=int, default=0, help="milliseconds that our connections stay for more")
    parser.add_argument("--python-side", help=argparse.SUPPRESS)
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.python_side:
        given = json.loads(options.python_side)
        print(json.dumps(python_side(given["by_domain"], given["port"], given["dns"], options.threads)))
        return
    from testbed import free_port

    by_domain = {f"d{n}.test": [f"{'known' if i % 2 else 'gone'}{i}@d{n}.test" for i in range(options.addresses)]
                 for n in range(options.domains)}
    expected = {one: "OK" if one.startswith("known") else "NOT_FOUND" for ones in by_domain.values() for one in ones}
    port, dns_address = free_port(), multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(port, list(by_domain), dns_address), daemon=True)
    server.start()
    dns = dns_address.get()

    def ours():
        tool = Path(options.build) / "tests/unit/worker/mail_verify"
        done = subprocess.run([tool, "--dns", dns, "--port", str(port), "--connections", str(options.threads), "--linger",
                               str(options.linger)], input="\n".join(expected) + "\n", capture_output=True, text=True,
                              check=True)
        return {line.split(" ")[0]: line.split(" ")[1] for line in done.stdout.splitlines()}

    def theirs():
        given = json.dumps({"by_domain": by_domain, "port": port, "dns": [dns.split(":")[0], int(dns.split(":")[1])]})
        done = subprocess.run([sys.executable, __file__, "--threads", str(options.threads), "--python-side", given],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    rows = {}
    for name, side in (("vedette", ours), ("python", theirs)):
        verdicts, took, cpu = measured(side)
        wrong = sum(verdicts[one] != want for one, want in expected.items())
        rows[name] = {"per_second": len(expected) / took, "cpu_us": cpu / len(expected) * 1e6, "wrong": wrong}
        print(f"{name:8}  {rows[name]['per_second']:8.0f} addresses/s  {rows[name]['cpu_us']:8.0f} us CPU each  "
              f"{wrong} wrong")
    print(f"Python takes {rows['python']['cpu_us'] / rows['vedette']['cpu_us']:.1f} times the CPU.")
    server.terminate()
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2) + os.linesep)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests/support"))
    main()
