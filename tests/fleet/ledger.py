"""Append-only records of what was seen from outside, by one clock: time.monotonic, the machine's."""

import gc
import json
import threading
import time


# Python's collector holds every thread while it looks through everything, the proxies' too: for 3 s in an hour's ledger, and
# a primary that does not reach its etcd for that long gives way. What the ledger has stays, and is not looked through again.
FROZEN_EVERY = 500


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
            if len(self.entries) % FROZEN_EVERY == 0:
                gc.freeze()
            self._file.write(json.dumps(entry) + "\n")
        return entry

    def of(self, *kinds):
        return [entry for entry in list(self.entries) if entry["kind"] in kinds]

    def close(self):
        with self._lock:
            self._file.close()
