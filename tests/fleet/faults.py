"""What is done to the fleet. Each fault is a function that does it, undoes it and says what it did; all of it goes
into the ledger as kind "fault", from `t0` to `t` ."""

import os
import signal
import time

import psycopg2

from fleet import FAKETIME, LEASE_MS

LEASE_S = LEASE_MS / 1000
COMMITS = {
    "worker": ["record_lock_chunks", "chunk_claim", "record_row_states", "states_write", "job_claim", "job_chunk_lock", "job_charge",
               "job_finish"],
    "delivery": ["attempt_insert", "delivery_claim"],
    "scheduler": ["chunk_insert", "tick_close_large", "sched_open_ticks", "workflow_slot_decide", "workflow_schedule_claim"],
    "api": ["job_start", "job_insert", "job_end_lock"],
}
POINTS = {
    "worker": ["after_claim", "after_reserve", "after_probe", "before_record_commit", "after_record_commit",
               "after_job_claim", "after_row", "before_job_record_commit", "after_job_record_commit",
               "before_job_end_commit", "after_job_end_commit"],
    "delivery": ["after_send", "before_settle"],
    "scheduler": ["after_cut", "before_job_end_commit", "after_job_end_commit", "after_slot_read", "before_slot_commit",
                  "after_slot_commit"],
    "api": ["after_job_start", "before_job_end_commit", "after_job_end_commit"],
}


class Skipped(Exception):
    """This machine does not permit the fault, or it cannot happen now."""


class Faults:
    def __init__(self, members, cluster, ledger, random):
        self.members, self.cluster, self.ledger, self.random = members, cluster, ledger, random
        self.failed_over = False

    ALL = ["kill", "stop", "points", "terminate", "cut", "cut_commit", "partition", "restart", "exhaust", "clock",
           "prices", "disk", "failover"]

    def unsupported(self):
        """Faults that this machine does not permit, with the reason."""
        missing = {}
        if not os.path.exists(FAKETIME):
            missing["clock"] = "libfaketime is not installed"
        if not self.cluster.mount:
            missing["disk"] = self.cluster.mount_error or "no small disk"
        if not self.cluster.standby:
            missing["failover"] = "no standby"
        return missing

    def some(self, role=None):
        fitting = [m for m in self.members if role is None or role in m.roles]
        return self.random.choice(fitting)

    def inject(self, name):
        t0 = time.monotonic()
        try:
            what = getattr(self, "do_" + name)()
        except Skipped as skipped:
            self.ledger.add("skipped", name=name, reason=str(skipped))
            return
        except psycopg2.Error as error:
            what = f"gave up: {error}".strip()
        self.ledger.add("fault", name=name, t0=round(t0, 4), what=what)

    # Processes. Whoever died is started again by the torture's watch, and thawed when it froze itself.

    def do_kill(self):
        member = self.some()
        member.kill()
        return member.name

    def do_stop(self):
        member = self.some()
        member.send(signal.SIGSTOP)
        time.sleep(LEASE_S * self.random.uniform(1.3, 2.2))
        member.send(signal.SIGCONT)
        return member.name

    def do_points(self):
        """A process goes on with faults at named points of its own."""
        role = self.random.choice(["worker", "worker", "worker", "delivery", "scheduler", "api"])
        member = self.some(role)
        action = self.random.choice(["kill", "stop"])
        member.points = [f"{point}:{action}:{self.random.choice([0.02, 0.1, 0.3])}"
                         for point in self.random.sample(POINTS[role], 1)]
        member.seed = self.random.randrange(1 << 30)
        member.kill()
        return f"{member.name} {member.points}"

    def do_clock(self):
        # Not a deliverer: receivers refuse signatures of another time.
        member = self.random.choice([m for m in self.members if m.roles in ("worker", "scheduler")])
        member.skew_s = self.random.choice([600, -600])
        member.kill()
        return f"{member.name} {member.skew_s:+d} s"

    def do_prices(self):
        """The operator changes a price in the configuration: some processes have it already."""
        member = self.some("worker")
        member.prices = {"low": self.random.choice([1, 2])}
        member.kill()
        return f"{member.name} {member.prices}"

    # The network.

    def do_cut(self):
        member = self.some()
        member.proxy.cut()
        return member.name

    def do_cut_commit(self):
        role = self.random.choice(list(COMMITS))
        member = self.some(role)
        statement = self.random.choice(COMMITS[role])
        member.proxy.cut_commit_of(statement, before=self.random.random() < 0.3)
        return f"{member.name} {statement}"

    def do_partition(self):
        member = self.some()
        member.proxy.partition()
        time.sleep(LEASE_S * self.random.uniform(1.3, 3))
        member.proxy.heal()
        return member.name

    # The database.

    def do_terminate(self):
        share = self.random.choice([0.3, 1])
        ended = self.cluster.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'fleet' AND random() < %s",
            (share,))
        return f"{ended[0][0]} sessions"

    def do_restart(self):
        self.cluster.restart()

    def do_exhaust(self):
        held = []
        try:
            for _ in range(100):
                held.append(self.cluster.primary.connect(self.cluster.database, "fleet"))
        except psycopg2.OperationalError:
            pass
        self.cluster.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                             "WHERE usename = 'fleet' AND application_name LIKE 'vedette%'")
        for _ in range(20):  # before the fleet is back
            try:
                held.append(self.cluster.primary.connect(self.cluster.database, "fleet"))
            except psycopg2.OperationalError:
                time.sleep(0.05)
        time.sleep(self.random.uniform(1, 2.5))
        for connection in held:
            connection.close()
        return f"{len(held)} connections"

    def do_disk(self):
        if self.failed_over:
            raise Skipped("after a failover the primary is not on the small disk")
        self.cluster.fill_disk()
        time.sleep(self.random.uniform(1.5, 3))
        self.cluster.free_disk()

    def do_failover(self):
        if self.failed_over:
            self.cluster.add_standby()
        if not self.cluster.standby or not self.cluster.synchronous():
            raise Skipped("no synchronous standby now")
        self.cluster.fail_over()
        self.failed_over = True
