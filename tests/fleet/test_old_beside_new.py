"""An earlier version goes on beside a later one while a fleet is replaced: this one beside the release after it, as far as a
test can make that up (9999_next.sql), and where VEDETTE_OLD_BINARY names the binary of an earlier one, that beside this one
(CONTRIBUTING.md)."""

import os
import subprocess
from pathlib import Path

OLD_BINARY = os.environ.get("VEDETTE_OLD_BINARY")


def test_a_binary_of_the_version_before_and_a_later_one_work_on_the_same_jobs_runs_and_monitors(request):
    """Half a fleet of the old binary has checks, lookups and runs under way when the schema is migrated and the other half
    comes, of the later version. Both work, the old processes die and are replaced; every ledger agrees with the database."""
    build = Path(request.config.getoption("--build"))
    old, new = (OLD_BINARY, build) if OLD_BINARY else (build / "vedette", build / "vedette-next")
    torture = Path(__file__).resolve().parent / "torture"
    done = subprocess.run([torture, "--minutes", "0.5", "--faults", "", "--before", old, "--build", new],
                          capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
