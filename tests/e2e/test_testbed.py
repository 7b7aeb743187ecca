"""What tests stand on removes itself, even after a run that was killed, and no connection takes its ports."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import ROOT, wait_until
from testbed import Postgres, connection_ports_begin, free_port

OWNER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from testbed import Postgres
postgres = Postgres(under=sys.argv[2]).start()
print(postgres.dir, postgres.pid, flush=True)
time.sleep(600)
"""


def test_a_connection_is_given_no_port_that_is_a_servers():
    assert all(free_port() < connection_ports_begin() for _ in range(20))


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def under():
    # Not below pytest's own directory, which every other pytest that starts closes to the server's user.
    path = Path(tempfile.mkdtemp(prefix="vedette-testbed-", dir="/tmp"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


def test_the_cluster_of_a_test_that_was_killed_is_removed_by_the_next_one(under):
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
