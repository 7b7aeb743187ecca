"""Append-only records of what was seen from outside, by one clock: time.monotonic, the machine's."""

import json
import threading
import time


class Ledger:
    """Lines of JSON in a file, and the same in memory."""

    def __init__(self, path):
        self.entries = []
        self._file = open(path, "a", buffering=1 << 16)
        self._lock = threading.Lock()

    def add(self, kind, **fields):
        entry = {"t": round(time.monotonic(), 4), "kind": kind, **fields}
        with self._lock:
            self.entries.append(entry)
            self._file.write(json.dumps(entry) + "\n")
        return entry

    def of(self, *kinds):
        return [entry for entry in list(self.entries) if entry["kind"] in kinds]

    def close(self):
        with self._lock:
            self._file.close()
