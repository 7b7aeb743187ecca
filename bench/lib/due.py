"""Monitors that are due all the time, and how late their checks begin."""

import time

from histograms import histogram, quantile
from machine import ROOT

SEED = (ROOT / "bench" / "lib" / "seed.sql").read_text()
LAG = "vedette_schedule_lag_seconds"
PERIOD_S = 10
# The chunks of a tick are all cut at once, by a probe that answers at once.
SETTINGS = {"VEDETTE_PROBES_LOW_KIND": "null", "VEDETTE_TESTING_NULL_CHANGE_SHARE": "0.02",
            "VEDETTE_SCHEDULER_SPREAD": "0"}


def seed(orgs, monitors, rows, webhook_url="null"):
    """The statements that make so many organisations, each with so many monitors of so many rows."""
    return (SEED.replace("{orgs}", str(orgs)).replace("{monitors}", str(monitors)).replace("{rows}", str(rows))
            .replace("{webhook_url}", webhook_url))


def monitors_for(checks_per_s, rows=1_000):
    return max(1, checks_per_s * PERIOD_S // rows)


def begin(connection):
    """Every monitor is due each PERIOD_S seconds, their slots spread evenly. Returns after the first period."""
    connection.cursor().execute(f"""
        update monitor_sched s set frequency_s = {PERIOD_S}, anchor_at = u.at, next_run_at = u.at
        from (select monitor_id, now() + interval '2 s' + n * interval '{PERIOD_S} s' / count(*) over () as at
              from (select monitor_id, row_number() over () as n from monitor_sched where live) m) u
        where s.monitor_id = u.monitor_id; notify vedette_due""")
    time.sleep(PERIOD_S + 4)


class Lag:
    """The lag of the checks that a process begins from now on."""

    def __init__(self, service):
        self.service, self.before = service, histogram(service.metrics(), LAG)

    def ms(self):
        after = histogram(self.service.metrics(), LAG)
        seen = {bound: after[bound] - self.before.get(bound, 0) for bound in after}
        return {"p50": quantile(seen, 0.5) * 1000, "p99": quantile(seen, 0.99) * 1000}
