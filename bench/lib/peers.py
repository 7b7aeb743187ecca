"""The peers that are job queues and the like: a process of Node.js or Go each, told what to do line by line."""

import json
import os
import re
import shutil
import subprocess
import sys

from machine import ROOT, Meter
from testbed import npm_tools

# The package that a peer's script stands for, whose version is told beside its figures.
PACKAGES = {"graphile": "graphile-worker", "pgboss": "pg-boss", "dbos": "@dbos-inc/dbos-sdk", "streams": "csv-parse",
            "puppeteer": "puppeteer-core"}


def missing(name):
    """Why a peer cannot be run here, or None. Node.js comes with those of npm; Go of 1.21 or newer is no package of Debian 12."""
    if name == "river" and go() is None:
        return "there is no Go of 1.21 or newer (go on PATH, or in /usr/local/go/bin)"
    return None


def go():
    return shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")


def node_peer(name):
    """The command of a script of bench/peers, and the version of its package."""
    tools = npm_tools("bench/peers")
    # A script's imports are found beside it: a copy stands beside the packages.
    script = f"{tools}/{name}.mjs"
    shutil.copy(ROOT / "bench" / "peers" / f"{name}.mjs", script)
    with open(f"{tools}/node_modules/{PACKAGES[name]}/package.json") as f:
        return [f"{tools}/node_modules/node/bin/node", script], json.load(f)["version"]


def go_peer(name):
    """The command of a program of bench/peers, built from the modules that its go.sum names, and its module's version."""
    folder, program = ROOT / "bench" / "peers" / name, ROOT / "build" / "go" / name
    subprocess.run([go(), "build", "-o", program, "."], cwd=folder, check=True, stdout=sys.stderr,
                   env={**os.environ, "GOFLAGS": "-mod=readonly"})
    version = re.search(r"github.com/riverqueue/river v(\S+)", (folder / "go.mod").read_text())[1]
    return [program], version


def cost_of(used, n):
    """What a meter saw, of each of n checks or jobs."""
    return {"checks_per_s": n / used["at"], "postgres_us": used["postgres_cpu"] / n * 1e6,
            "process_us": used["process_cpu"] / n * 1e6, "wal_bytes": used["wal"] / n,
            "full_page_images": used["fpi"] / n, "transactions": used["xacts"] / n}


class Peer:
    def __init__(self, postgres, name):
        self.postgres, self.name, self.database = postgres, name, f"bench_{name}"
        command, self.version = go_peer(name) if name == "river" else node_peer(name)
        postgres.drop(self.database)
        postgres.create(self.database)
        self.process = subprocess.Popen([*command, postgres.tcp_url(self.database)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, "NODE_ENV": "production"})
        self._answer()
        self.connection = postgres.connect(self.database)

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.name} ended")
        return json.loads(line)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._answer()

    def round(self, jobs):
        """Enqueues and executes so many jobs; figures as a round of checks."""
        self.connection.cursor().execute("vacuum analyze")
        meter = Meter(self.postgres, self.connection, [self.process.pid])
        self.tell(f"enqueue {jobs}")
        enqueued = meter.end()["at"]
        # Statistics of the full queue, as autovacuum makes them within its minute: by those of an empty one some read all of it for each job.
        self.connection.cursor().execute("analyze")
        self.tell("execute")
        used = meter.end()
        return cost_of(used, jobs) | {"execute_per_s": jobs / (used["at"] - enqueued)}

    def trickle(self, per_s, seconds):
        """Jobs that are added one at a time; figures as of the checks that come so."""
        jobs = per_s * seconds
        self.tell(f"trickle {jobs // 5} {per_s}")  # warms up
        meter = Meter(self.postgres, self.connection, [self.process.pid])
        self.tell(f"trickle {jobs} {per_s}")
        return cost_of(meter.end(), jobs)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.connection.close()
        self.postgres.drop(self.database)
