"""What tests stand on removes itself, even after a run that was killed."""

import os
import signal
import subprocess
import sys

from conftest import ROOT, wait_until
from testbed import Postgres

OWNER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from testbed import Postgres
postgres = Postgres(under=sys.argv[2]).start()
print(postgres.dir, postgres.pid, flush=True)
time.sleep(600)
"""


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_the_cluster_of_a_test_that_was_killed_is_removed_by_the_next_one(tmp_path_factory):
    under = tmp_path_factory.mktemp("clusters")
    for path in (under, *under.parents):
        if path.stat().st_uid == os.geteuid() and path != path.parent and not path.stat().st_mode & 0o001:
            path.chmod(0o711)  # the server's user has to pass
    owner = subprocess.Popen([sys.executable, "-c", OWNER, ROOT / "tests" / "support", under],
                             stdout=subprocess.PIPE, text=True)
    left, server = owner.stdout.readline().split()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert runs(server) and os.path.exists(left), "nothing was left behind"

    living = Postgres(under=under)
    assert not os.path.exists(left)
    wait_until("its server to end", lambda: not runs(server))
    living.start()
    another = Postgres(under=under)
    another.close()
    living.assert_runs()
    living.close()
    assert not living.dir.exists() and list(under.iterdir()) == []
