#!/usr/bin/python3
"""Pages a second that scripts make, and the CPU of one, beside puppeteer-core driving the same chromium, in one run.

    bench/rendering/run.py [--build build/release] [--rounds 5] [--quick] [--json FILE]

Both read the same pages of frameworks from an nginx, four at once, each in a context of its own, when nothing was being fetched
for half a second. The CPU counted is that of the program and its browsers, for vedette that of PostgreSQL, too. Rounds are taken by turns.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "lib"), str(Path(__file__).resolve().parents[2] / "tests" / "e2e")]
import needs  # noqa: E402
from figures import Targets, say, summaries, table  # noqa: E402
from machine import ROOT, Postgres, add_server_option, chosen_server, free_port, stop_process, tree, tree_cpu_s  # noqa: E402
from peers import node_peer  # noqa: E402
from scripted_pages import FRAMEWORKS, ITEMS, node_modules  # noqa: E402
from servers import start_nginx  # noqa: E402
from watched_pages import WatchedPages, as_cost  # noqa: E402

CHROMIUM, AT_ONCE, COPIES = "/usr/bin/chromium", 4, 4
NAMES = ["react", "vue", "preact", "hyperapp", "mithril", "svelte", "van", "knockout"]
PROMISED = (">=", 0.9)  # of the peer's rate, and of what it does with the same CPU
MEMORY_MAX = 1536  # MiB: [browser] memory_bytes_max as it ships


class Nginx:
    def __init__(self, directory):
        self.port = free_port()
        pages = Path(directory) / "pages"
        (pages / "api").mkdir(parents=True)
        modules, built = node_modules()
        (pages / "npm").symlink_to(modules)
        (pages / "built").symlink_to(built)
        (pages / "api" / "items").write_text(json.dumps(ITEMS))
        for name in NAMES:
            text = FRAMEWORKS[name].replace("<head>", f"<head><script>const ITEMS = {json.dumps(ITEMS)};</script>")
            for copy in range(COPIES):
                (pages / f"{name}{copy}.html").write_text(text)
        self.urls = [f"http://127.0.0.1:{self.port}/{name}{copy}.html" for copy in range(COPIES) for name in NAMES]
        main = f"worker_processes 1; {'user root;' if os.geteuid() == 0 else ''}"
        self.process = start_nginx(Path(directory), self.port, f"""
            types {{ text/html html; text/javascript js mjs; application/json json; }}
            charset utf-8; charset_types text/javascript; access_log off;
            server {{ listen 127.0.0.1:{self.port}; root {pages};
                      location /api/ {{ default_type application/json; }} }}""",
                                   program=needs.program("nginx", "nginx-light"), main=main, connections=1024)

    def close(self):
        stop_process(self.process)


def memory_mib(pid):
    """What all that runs below a process has for itself, as [browser] memory_bytes_max counts it."""
    total = 0
    for one in tree(pid)[1:]:
        try:
            lines = Path(f"/proc/{one}/status").read_text().splitlines()
        except OSError:
            continue  # it ended
        total += sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return total / 1024


class Memory:
    """The most that was seen below a process while it was looked at."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0.0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def _look(self):
        while not self.over.wait(0.25):
            self.most = max(self.most, memory_mib(self.pid))

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Puppeteer:
    def __init__(self, directory, urls, sandbox):
        command, version = node_peer("puppeteer")
        self.name = f"puppeteer-core {version}"
        self.file = Path(directory) / "urls.json"
        self.file.write_text(json.dumps(urls))
        self.process = subprocess.Popen([*command, CHROMIUM, sandbox, str(AT_ONCE)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert json.loads(self.process.stdout.readline()) == {"ready": True}

    def round(self):
        at, before = time.monotonic(), tree_cpu_s(self.process.pid)
        self.process.stdin.write(f"read {self.file}\n")
        self.process.stdin.flush()
        seen = json.loads(self.process.stdout.readline())
        assert seen["wrong"] == 0, f"puppeteer-core could not read {seen['wrong']} pages"
        return {"seconds": time.monotonic() - at, "cpu_s": tree_cpu_s(self.process.pid) - before, "pages": seen["pages"]}

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def sandboxed():
    """Whether a browser's sandbox can be had here, for an ordinary user."""
    user = {"user": "nobody"} if os.geteuid() == 0 else {}
    return subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False, **user).returncode == 0


def measure(postgres, nginx, directory, options):
    # puppeteer-core starts its browser as the user that it is itself; root's has no sandbox.
    sandbox = str(sandboxed() and os.geteuid() != 0).lower()
    ours = WatchedPages(postgres, Path(options.build) / "vedette", "bench_rendering", nginx.urls, 1,
                        {"title": "css:h1"}, {"VEDETTE_PROBES_LOW_RENDER": "always", "VEDETTE_BROWSER_PAGES_MAX": str(AT_ONCE),
                                              "VEDETTE_BROWSER_SANDBOX": sandbox})
    theirs, rounds, most = Puppeteer(directory, nginx.urls, sandbox), {"vedette": [], "puppeteer": []}, 0.0
    try:
        ours.open()
        theirs.round()
        for n in range(options.rounds):
            say(f"round {n + 1} of {options.rounds}")
            with Memory(ours.service.pid) as memory:
                rounds["vedette"].append(as_cost(ours.round()))
            most = max(most, memory.most)
            rounds["puppeteer"].append(as_cost(theirs.round()))
        assert all("made by " in known for known in ours.known()), ours.known()
    finally:
        theirs.close()
        ours.close()
    return {"vedette": summaries(rounds["vedette"]), theirs.name: summaries(rounds["puppeteer"])}, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", help="where to write all figures")
    add_server_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    needs.file(CHROMIUM, "chromium")
    server = chosen_server(options)
    postgres = Postgres(server)
    try:
        with tempfile.TemporaryDirectory(prefix="vedette-bench-rendering-", dir="/var/tmp", ignore_cleanup_errors=True) as directory:
            nginx = Nginx(directory)
            try:
                found, most = measure(postgres, nginx, directory, options)
            finally:
                nginx.close()
    finally:
        postgres.close()
    table(f"{COPIES * len(NAMES)} pages of {len(NAMES)} frameworks, {AT_ONCE} at once",
          ["", "a second", "process and browser ms", "PostgreSQL ms"],
          [[name, f"{f['per_s']['median']:,.2f}", f"{f['process_us']['median'] / 1000:,.1f}",
            f"{f['postgres_us']['median'] / 1000:,.1f}"] for name, f in found.items()])
    targets = Targets()
    (_, ours), (peer, theirs) = found.items()
    targets.against("rendered pages", ours, peer, theirs, PROMISED, PROMISED)
    targets.figure("memory of the browser", most, ("<=", MEMORY_MAX), "MiB")
    targets.print()
    if options.json:
        result = {"server": server, "at": time.strftime("%Y-%m-%d"), "rendering": found, "targets": targets.lines}
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
