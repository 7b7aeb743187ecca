"""Icinga 2's own scheduling, in one process without a database: how late its checks start. Debian's icinga2-bin."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SERVICES = """const NodeName = "bench"
const ZoneName = NodeName
include <itl>
object Endpoint NodeName {}
object Zone ZoneName { endpoints = [ NodeName ] }
object CheckerComponent "checker" {}
object Host "bench" { check_command = "dummy"; enable_active_checks = false }
for (i in range(%d)) {
  object Service "s" + i {
    host_name = "bench"
    check_command = "dummy"
    check_interval = 1s
    retry_interval = 1s
    max_check_attempts = 1
  }
}
"""


def missing():
    return None if shutil.which("icinga2") else "Icinga 2 is not installed (scripts/bench_tools installs it)"


def version():
    said = subprocess.run(["icinga2", "--version"], capture_output=True, text=True, check=True).stdout
    return said.split("version: ")[1].split(")")[0]


def records(state):
    """The state file: each object as `length:json,`."""
    at = 0
    while at < len(state):
        colon = state.index(b":", at)
        length = int(state[at:colon])
        yield json.loads(state[colon + 1:colon + 1 + length])
        at = colon + 1 + length + 1


def lag_ms(checks_per_s, seconds):
    """Services, each checked once a second by the built-in dummy: of every service's last check, execution start
    minus schedule start, in ms; with the share of services whose last check was less than two seconds before the end."""
    directory = Path(tempfile.mkdtemp(prefix="vedette-bench-icinga-"))
    user = {}
    name = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        entry = pwd.getpwnam("nobody")
        user, name = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}, "nobody"
    for part in ("data", "log", "cache", "run", "spool"):
        (directory / part).mkdir()
    (directory / "icinga2.conf").write_text(SERVICES % checks_per_s)
    if user:
        for path in (directory, *directory.iterdir()):
            os.chown(path, user["user"], user["group"])
    state = directory / "data" / "icinga2.state"
    defines = {"Configuration.RunAsUser": name, "Configuration.RunAsGroup": "nogroup" if user else name,
               "Configuration.DataDir": directory / "data", "Configuration.LogDir": directory / "log",
               "Configuration.CacheDir": directory / "cache", "Configuration.InitRunDir": directory / "run",
               "Configuration.SpoolDir": directory / "spool", "Configuration.StatePath": state,
               "MaxConcurrentChecks": 1_000_000}
    with open(directory / "log" / "said", "wb") as said:
        daemon = subprocess.Popen(["icinga2", "daemon", "-c", directory / "icinga2.conf"]
                                  + [f"-D{k}={v}" for k, v in defines.items()], stdout=said, stderr=said, **user)
        time.sleep(seconds)
        ended = time.time()
        daemon.terminate()
        daemon.wait(120)
    late, fresh = [], 0
    for record in records(state.read_bytes()):
        result = record["type"] == "Service" and record["update"].get("last_check_result")
        if result:
            late.append(max(0.0, result["execution_start"] - result["schedule_start"]) * 1000)
            fresh += ended - result["execution_start"] < 2
    shutil.rmtree(directory, ignore_errors=True)
    return late, fresh / checks_per_s
