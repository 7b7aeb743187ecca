"""Monitors of pages, which a vedette of its own looks at together as often as it is told."""

import json
import time

import due
from machine import Meter, Vedette, migrate
from testbed import wait_until


class WatchedPages:
    """Some monitors of all the pages: a stream of pages, as the peers have one."""

    def __init__(self, postgres, binary, database, urls, monitors, fields, settings):
        self.postgres, self.database, self.looks_at = postgres, database, len(urls) * monitors
        postgres.create(database)
        migrate(binary, postgres.url(database))
        self.connection, self.looking = postgres.connect(database), postgres.connect(database)
        self.cursor = self.connection.cursor()
        self.cursor.execute(due.seed(1, monitors, len(urls)))
        self.cursor.execute("update monitor set struct = %s", (json.dumps(fields),))
        self.cursor.execute("update monitor_row set baseline = '{}', subject = json_build_object('url', (%s::text[])[position + 1])",
                            (urls,))
        self.cursor.execute("vacuum analyze")
        self.service = Vedette(binary, postgres.url(database), "admin,scheduler,worker", {
            "VEDETTE_PROBES_LOW_KIND": "web", "VEDETTE_WORKER_PER_HOST_MAX": "256", "VEDETTE_LOG_LEVEL": "error",
            "VEDETTE_SCHEDULER_SPREAD": "0", **settings})

    def open(self):
        self._look()
        self._check()

    def _nothing(self, what):
        self.cursor.execute(what)
        return self.cursor.rowcount == 0

    def _look(self):
        """The seconds until the last page was recorded. Its tick ends later: large ticks are closed once a second."""
        began = time.monotonic()
        self.cursor.execute("update monitor_sched set next_run_at = now(), anchor_at = now(); notify vedette_due")
        wait_until("the ticks to be cut", lambda: self._nothing("select from monitor_sched where next_run_at <= now()"),
                   600, every_s=0.005)
        wait_until("the pages to be looked at", lambda: self._nothing("select from chunk limit 1"), 600, every_s=0.005)
        seconds = time.monotonic() - began
        wait_until("the ticks to end", lambda: self._nothing("select from open_tick"), 600, every_s=0.01)
        return seconds

    def _check(self):
        """No page may have failed: a failure costs less than a look."""
        self.cursor.execute("select count(*) from row_state where outcome not in (1, 2)")
        failed = self.cursor.fetchone()[0]
        assert failed == 0, f"{failed} pages could not be read"

    def round(self, looks=1, between=lambda: None):
        """So many looks at every page; what `between` does is not measured."""
        total = {"seconds": 0.0, "process_s": 0.0, "postgres_s": 0.0, "pages": 0}
        for _ in range(looks):
            between()
            meter = Meter(self.postgres, self.looking, [self.service.pid])
            total["seconds"] += self._look()
            used = meter.end()
            total["process_s"] += used["process_cpu"]
            total["postgres_s"] += used["postgres_cpu"]
            total["pages"] += self.looks_at
        self._check()
        return total

    def known(self):
        """What is known of each page, as text."""
        self.cursor.execute("select coalesce(known, baseline)::text from monitor_row")
        return [text for text, in self.cursor.fetchall()]

    def close(self):
        self.service.close()
        self.connection.close()
        self.looking.close()
        self.postgres.drop(self.database)


def as_cost(seen):
    """The figures of a round as those of `figures.cost`."""
    process_s = seen.get("process_s", seen.get("cpu_s", 0.0))
    return {"per_s": seen["pages"] / seen["seconds"], "process_us": process_s / seen["pages"] * 1e6,
            "postgres_us": seen.get("postgres_s", 0.0) / seen["pages"] * 1e6}
