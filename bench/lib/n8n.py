"""n8n: a workflow of a webhook, a removal of duplicates and a filter, each execution kept in PostgreSQL, in one process."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from clients import as_fast_as_answered
from machine import ROOT, free_port, wait_until

FLOW = {
    "id": "benchbenchbench1", "name": "bench", "active": True, "settings": {"executionOrder": "v1"},
    "nodes": [
        {"id": "1", "name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": "bench",
         "parameters": {"path": "bench", "httpMethod": "POST", "responseMode": "onReceived", "options": {}}},
        {"id": "2", "name": "Dedupe", "type": "n8n-nodes-base.removeDuplicates", "typeVersion": 1, "position": [200, 0],
         "parameters": {"compare": "allFields", "options": {}}},
        {"id": "3", "name": "Filter", "type": "n8n-nodes-base.filter", "typeVersion": 2, "position": [400, 0],
         "parameters": {"options": {}, "conditions": {
             "combinator": "and", "options": {"caseSensitive": True, "leftValue": "", "typeValidation": "loose"},
             "conditions": [{"id": "1", "leftValue": "={{ $json.body.last }}", "rightValue": 7,
                             "operator": {"type": "number", "operation": "notEquals"}}]}}},
    ],
    "connections": {"Webhook": {"main": [[{"node": "Dedupe", "type": "main", "index": 0}]]},
                    "Dedupe": {"main": [[{"node": "Filter", "type": "main", "index": 0}]]}},
}
BODY = {"n": 1, "last": 1}


def tools(folder):
    """The folder that has the packages, installed the first time: those of n8n are 2.7 GB."""
    done = subprocess.run([ROOT / "scripts" / "npm_tools", folder], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


class N8n:
    def __init__(self, postgres):
        node, packages = f"{tools('bench/peers')}/node_modules/node/bin", tools("bench/peers/n8n")
        self.version = json.loads(Path(f"{packages}/node_modules/n8n/package.json").read_text())["version"]
        self.postgres, self.database, self.port = postgres, "bench_n8n", free_port()
        postgres.drop(self.database)
        postgres.create(self.database)
        self.home = tempfile.TemporaryDirectory(prefix="vedette-bench-n8n-", dir="/var/tmp")
        address = postgres.connect(self.database)
        parameters = address.info.dsn_parameters
        address.close()
        self.environment = {
            "PATH": f"{node}:/usr/bin:/bin", "HOME": self.home.name, "N8N_USER_FOLDER": self.home.name,
            "NODE_ENV": "production", "DB_TYPE": "postgresdb", "DB_POSTGRESDB_HOST": parameters["host"],
            "DB_POSTGRESDB_PORT": parameters.get("port", "5432"), "DB_POSTGRESDB_DATABASE": self.database,
            "DB_POSTGRESDB_USER": parameters["user"], "DB_POSTGRESDB_POOL_SIZE": "20", "N8N_PORT": str(self.port),
            "N8N_LISTEN_ADDRESS": "127.0.0.1", "N8N_DIAGNOSTICS_ENABLED": "false",
            "N8N_VERSION_NOTIFICATIONS_ENABLED": "false", "N8N_TEMPLATES_ENABLED": "false", "N8N_LOG_LEVEL": "error",
            "N8N_RUNNERS_BROKER_PORT": str(free_port()), "N8N_SECURE_COOKIE": "false", "EXECUTIONS_MODE": "regular"}
        self.command = [f"{node}/node", f"{packages}/node_modules/n8n/bin/n8n"]
        flow = Path(self.home.name) / "flow.json"
        flow.write_text(json.dumps([FLOW]))
        self._run("import:workflow", f"--input={flow}")
        self._run("publish:workflow", f"--id={FLOW['id']}")
        self.connection = postgres.connect(self.database)
        self.log = open(Path(self.home.name) / "log", "w")
        self.process = subprocess.Popen([*self.command, "start"], env=self.environment, stdout=self.log, stderr=self.log)

    def open(self):
        wait_until("n8n", self._ready, 300)

    def _run(self, *arguments):
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: n8n {arguments[0]}: {(done.stdout + done.stderr)[-800:]}")

    def _ready(self):
        if self.process.poll() is not None:
            sys.exit("bench: n8n ended: " + (Path(self.home.name) / "log").read_text()[-800:])
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/webhook/bench", json.dumps(BODY).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return b"started" in answer.read()  # while it starts it answers 200 with a page that says so
        except OSError:
            return False  # its webhooks are not there yet

    def _all_ended(self, wanted):
        cursor = self.connection.cursor()
        cursor.execute("select count(*) from execution_entity where finished")
        return cursor.fetchone()[0] >= wanted

    def runs(self, count, connections):
        """So many executions; returns when the last one has ended."""
        cursor = self.connection.cursor()
        cursor.execute("select count(*) from execution_entity")
        before = cursor.fetchone()[0]
        as_fast_as_answered(self.port, connections, [("/webhook/bench", "", BODY)] * count)
        wait_until("the executions to end", lambda: self._all_ended(before + count), 600)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
        self.log.close()
        self.connection.close()
        self.postgres.drop(self.database)
        self.home.cleanup()
