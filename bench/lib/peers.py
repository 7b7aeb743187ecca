"""The peers: a Node.js process each, told what to do line by line."""

import json
import os
import subprocess
import sys

from machine import ROOT, Meter

# The package that a peer's script stands for, whose version is told beside its figures.
PACKAGES = {"graphile": "graphile-worker", "pgboss": "pg-boss", "dbos": "@dbos-inc/dbos-sdk", "streams": "csv-parse"}


class Peer:
    def __init__(self, postgres, name):
        self.postgres, self.name, self.database = postgres, name, f"bench_{name}"
        tools = subprocess.run([ROOT / "scripts" / "npm_tools", "bench/peers"], check=True, capture_output=True,
                               text=True).stdout.strip()
        node = f"{tools}/node_modules/node/bin/node"
        # A script's imports are found beside it: a copy stands beside the packages.
        script = f"{tools}/{name}.mjs"
        with open(ROOT / "bench" / "peers" / f"{name}.mjs") as source, open(script, "w") as copy:
            copy.write(source.read())
        with open(f"{tools}/node_modules/{PACKAGES[name]}/package.json") as f:
            self.version = json.load(f)["version"]
        postgres.drop(self.database)
        postgres.create(self.database)
        self.process = subprocess.Popen([node, script, postgres.tcp_url(self.database)], stdin=subprocess.PIPE,
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
        self.tell("execute")
        used = meter.end()
        return {"checks_per_s": jobs / used["at"], "execute_per_s": jobs / (used["at"] - enqueued),
                "postgres_us": used["postgres_cpu"] / jobs * 1e6, "process_us": used["process_cpu"] / jobs * 1e6,
                "wal_bytes": used["wal"] / jobs, "full_page_images": used["fpi"] / jobs,
                "transactions": used["xacts"] / jobs}

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.connection.close()
        self.postgres.drop(self.database)
