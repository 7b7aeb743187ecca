"""What else watches pages: changedetection.io, urlwatch and Prometheus' blackbox_exporter, each looking at the same pages.

Each is opened, which lets it know the pages, has `round()`, which looks once at every page, and is closed.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import needs
from machine import ROOT, free_port, stop_process, tree_cpu_s
from servers import accepts
from testbed import wait_until


def version_of(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout.strip()


class Urlwatch:
    """A process a round, as cron runs it. It keeps an entity tag and asks with it; ten threads are all that it has."""

    NAME = "urlwatch"

    def __init__(self, directory, urls):
        self.program = needs.program("urlwatch", "urlwatch")
        self.directory = Path(directory)
        (self.directory / "urls.yaml").write_text("---\n".join(f"kind: url\nurl: {url}\n" for url in urls))
        (self.directory / "urlwatch.yaml").write_text(
            "report: {text: {line_length: 75, details: false, footer: false}, stdout: {enabled: false}}\n"
            "display: {new: false, error: true, unchanged: false}\n")
        self.version, self.pages = version_of("urlwatch"), len(urls)

    def open(self):
        self.round()

    def round(self):
        at, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, "--urls", "urls.yaml", "--config", "urlwatch.yaml", "--hooks", "hooks.py",
                               "--cache", "cache.db"], cwd=self.directory, capture_output=True, text=True)
        if done.returncode != 0 or "ERROR" in done.stdout:
            sys.exit(f"bench: urlwatch: {(done.stderr + done.stdout)[-500:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        return {"seconds": time.monotonic() - at, "cpu_s": cpu, "pages": self.pages}

    def close(self):
        pass


class BlackboxExporter:
    """Asked by wrk over sixteen connections; it reads a page and looks for a word, and compares nothing with the last time."""

    NAME, CONNECTIONS, SECONDS = "blackbox_exporter", 16, 5

    def __init__(self, directory, urls):
        program = needs.program("prometheus-blackbox-exporter", "prometheus-blackbox-exporter")
        self.wrk = needs.program("wrk", "wrk")
        self.directory, self.version = Path(directory), version_of("prometheus-blackbox-exporter")
        (self.directory / "blackbox.yml").write_text(
            "modules: {page: {prober: http, timeout: 30s, http: {preferred_ip_protocol: ip4, "
            "fail_if_body_not_matches_regexp: ['Product']}}}\n")
        self.port = free_port()
        self.paths = paths = [f"/probe?module=page&target={url}" for url in urls]
        self.process = subprocess.Popen([program, "--config.file", "blackbox.yml", "--log.level", "error",
                                         "--web.listen-address", f"127.0.0.1:{self.port}"], cwd=self.directory)
        (self.directory / "paths.lua").write_text(
            "local paths = {" + ",".join(json.dumps(path) for path in paths) + "}\nlocal at = 0\n"
            'function request() at = at % #paths + 1; return wrk.format("GET", paths[at]) end\n'
            'function done(s) io.write(s.requests - s.errors.status .. " pages in " .. s.duration .. " us\\n") end\n')

    def open(self):
        wait_until("blackbox_exporter", lambda: accepts(self.port), 30)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.paths[0]}", timeout=30) as answer:
            assert "\nprobe_success 1\n" in answer.read().decode(), "blackbox_exporter finds a page in no order"

    def round(self):
        before = tree_cpu_s(self.process.pid)
        done = subprocess.run([self.wrk, "-t1", f"-c{self.CONNECTIONS}", f"-d{self.SECONDS}", "--timeout", "30", "-s",
                               self.directory / "paths.lua", f"http://127.0.0.1:{self.port}"], check=True,
                              capture_output=True, text=True)
        pages, us = map(int, re.search(r"(\d+) pages in (\d+) us", done.stdout).groups())
        return {"seconds": us / 1e6, "cpu_s": tree_cpu_s(self.process.pid) - before, "pages": pages}

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Changedetection:
    """The server, its pages imported and rechecked by its API. It keeps each version of a page's text."""

    NAME, WORKERS = "changedetection.io", 10

    def __init__(self, directory, urls):
        self.directory, self.urls, self.pages, self.port = Path(directory), urls, len(urls), free_port()
        program = installed_by_pip("changedetection")
        self.log = open(self.directory / "log", "w")
        self.process = subprocess.Popen(
            [program / "changedetection.io", "-C", "-d", self.directory / "data", "-h", "127.0.0.1", "-p", str(self.port)],
            stdout=self.log, stderr=self.log,
            env={**os.environ, "FETCH_WORKERS": str(self.WORKERS), "MINIMUM_SECONDS_RECHECK_TIME": "0",
                 "ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "LOGGER_LEVEL": "ERROR", "DISABLE_VERSION_CHECK": "true"})
        self.version = subprocess.run([program / "changedetection.io", "--version"], capture_output=True,
                                      text=True).stdout.split()[-1]

    def open(self):
        wait_until("changedetection.io", lambda: accepts(self.port), 120)
        self.key = wait_until("its key", self._key, 30)
        for uuid in self._ask("GET", "/watch"):
            self._ask("DELETE", f"/watch/{uuid}")
        self._ask("POST", "/import", "\n".join(self.urls).encode())
        wait_until("its first look", self._all_since(0.0), 600, every_s=0.5)

    def _key(self):
        for path in self.directory.glob("data/*.json"):
            settings = json.loads(path.read_text()).get("settings", {})
            if key := settings.get("application", {}).get("api_access_token"):
                return key
        return None

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v1{path}", data=body, method=method,
                                         headers={"x-api-key": self.key, "Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def _all_since(self, at):
        def looked():
            try:
                watches = self._ask("GET", "/watch").values()
            except urllib.error.HTTPError:
                return False  # it cannot list what it is still importing
            if wrong := [watch["last_error"] for watch in watches if watch.get("last_error")]:
                sys.exit(f"bench: changedetection.io: {wrong[0]}")
            return len(watches) == self.pages and all(watch["last_checked"] > at for watch in watches)
        return looked

    def round(self):
        time.sleep(1.1)  # it tells whole seconds
        began, at, before = time.monotonic(), int(time.time()) - 1, tree_cpu_s(self.process.pid)
        self._ask("GET", "/watch?recheck_all=1")
        # The queue is looked at, which costs little; the list of watches, once it is empty.
        wait_until("its queue", lambda: self._ask("GET", "/systeminfo")["queue_size"] == 0, 600, every_s=0.5)
        wait_until("its looks", self._all_since(at), 600, every_s=0.5)
        return {"seconds": time.monotonic() - began, "cpu_s": tree_cpu_s(self.process.pid) - before, "pages": self.pages}

    def close(self):
        stop_process(self.process)
        self.log.close()


def installed_by_pip(name):
    """The folder of programs of bench/peers/NAME.txt, whose versions are pinned, installed once into build/pip."""
    wanted, home = ROOT / "bench" / "peers" / f"{name}.txt", ROOT / "build" / "pip" / name
    marker = home / "installed"
    if not marker.exists() or marker.read_text() != wanted.read_text():
        print(f"Installing {name} by pip (two minutes, once).", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "-r", wanted], check=True,
                       stdout=sys.stderr)
        marker.write_text(wanted.read_text())
    return home / "bin"


PEERS = {peer.NAME: peer for peer in (Changedetection, Urlwatch, BlackboxExporter)}
