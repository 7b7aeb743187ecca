"""What is done to a database under Patroni. Each fault begins with three whole nodes and waits until they are whole again; how
long it took until there was another primary, and until the API answered after that, is written down."""

import time

from cluster import fill_disk, free_disk, wait_until
from faults import Faults, Skipped
from fleet import call

# How long a disk stays full.
FULL_S = 5
# Whatever is slow, Patroni has replaced a node by then, and the API answers. It ends what hangs: where compilers had the machine
# a Patroni took 53 s to its first line, and the PostgreSQL that it started 106 s more.
REPLACED_MAX_S = 600


class Failovers(Faults):
    # Those of every run, and those that come with them in long ones.
    QUICK = ["switchover", "node", "etcd", "disk"]
    ALL = QUICK + ["frozen", "standby", "crash", "kill", "terminate", "cut_commit"]

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.took = []  # (fault, s to another primary, s from there to the API's answers)
        self.key = None  # of a tenant, with which the API is asked

    def unsupported(self):
        return {} if self.cluster.mount else {"disk": self.cluster.mount_error}

    def _whole(self):
        wait_until("three whole nodes", self.cluster.is_whole, REPLACED_MAX_S, 0.2)

    def _answers(self, front):
        return call("GET", front.api + "/monitors?limit=1", headers={"x-api-key": self.key}, timeout_s=2)[0] == 200

    def _replaced(self, fault, former, since):
        leader = wait_until("another primary", lambda: self.cluster.leader(but=former), REPLACED_MAX_S)
        promoted = time.monotonic()
        for front in (m for m in self.members if "api" in m.roles):
            wait_until(f"an answer of {front.name}", lambda: self._answers(front), REPLACED_MAX_S)
        self.took.append((fault, promoted - since, time.monotonic() - promoted))
        return f"{former.name} gives way to {leader.name}"

    def do_switchover(self):
        self._whole()
        former, since = self.cluster.primary, time.monotonic()
        status, answer = self.cluster.switch_over()
        if status != 200:
            raise Skipped(f"Patroni refuses: {status} {answer}")
        return self._replaced("switchover", former, since)

    def do_node(self):
        """All that runs on the primary's machine ends at once."""
        self._whole()
        former, since = self.cluster.primary, time.monotonic()
        former.kill()
        try:
            return self._replaced("node", former, since)
        finally:
            former.start(self.cluster.peers)
            self._whole()

    def do_etcd(self):
        """The primary, and nobody else, does not reach etcd."""
        self._whole()
        former, since = self.cluster.primary, time.monotonic()
        former.way_to_etcd.partition()
        try:
            return self._replaced("etcd", former, since)
        finally:
            former.way_to_etcd.heal()
            self._whole()

    def do_frozen(self):
        """The primary's machine stands still until another one has its place, and goes on as if nothing had been."""
        self._whole()
        former, since = self.cluster.primary, time.monotonic()
        former.freeze()
        try:
            return self._replaced("frozen", former, since)
        finally:
            former.thaw()
            self._whole()

    def do_standby(self):
        """The machine for which every COMMIT waits."""
        self._whole()
        node = self.cluster.synchronous_standby()
        node.kill()
        time.sleep(self.random.uniform(1, 4))
        node.start(self.cluster.peers)
        self._whole()
        return node.name

    def do_crash(self):
        self._whole()
        node = self.cluster.primary
        node.crash()
        time.sleep(1)
        self._whole()
        return node.name

    def do_disk(self):
        """Writes fail, or the server ends when its log finds no room and another one takes its place."""
        self._whole()
        node = self.cluster.primary
        fill_disk(node.mount)
        time.sleep(FULL_S)
        leader = self.cluster.leader()
        free_disk(node.mount)
        self._whole()
        return f"{node.name}, then the primary was {leader and leader.name}"
