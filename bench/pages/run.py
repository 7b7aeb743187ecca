#!/usr/bin/python3
"""Pages a second and the CPU of one, beside what else watches pages, in one run: a thousand pages of 50 kB on an nginx.

    bench/pages/run.py [--build build/release] [--rounds 3] [--quick] [--only changedetection.io,urlwatch] [--json FILE]

The peers are changedetection.io (by pip, into build/pip the first time), urlwatch and blackbox_exporter. CPU is that of whoever
looks: for vedette its process and PostgreSQL. nginx and wrk count for nobody.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import due  # noqa: E402
import needs  # noqa: E402
from figures import Targets, cpu_us, parts_of, say, summaries, table  # noqa: E402
from machine import ROOT, Meter, Postgres, Vedette, add_server_option, chosen_server, free_port, migrate  # noqa: E402
from page_peers import PEERS  # noqa: E402
from services import accepts  # noqa: E402
from testbed import wait_until  # noqa: E402

PAGES, PAGE_BYTES = 1_000, 50_000
FIELDS = {"text": "text | hash", "price": "css:p.price | number"}
# The wanted multiple of the best peer's rate, and of what that does with the same CPU.
PROMISED = (">=", 5)
# What is asked of a page: one whose server names its version, one whose server does not, and one that changes each time.
STATIC, UNNAMED, CHANGED = "static pages", "static pages without a name of their version", "pages that change each time"


def page(n, version=0):
    """A shop's page of 50 kB: a heading, a price, and items with links and words."""
    head = (f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Product {n}</title></head><body>"
            f"<h1>Product {n}</h1><p class=price>{n + 1}.{version % 100:02d} EUR</p><ul>")
    out, at = [head], 0
    size = len(head)
    while size < PAGE_BYTES - 40:
        item = (f'<li class="item"><a href="/items/{n}/{at}">Item {at} of {n}</a> <span>in {at % 30} days</span>'
                f"<p>Words that describe the item number {at} as shops describe theirs.</p></li>\n")
        out.append(item)
        size, at = size + len(item), at + 1
    return "".join(out) + "</ul></body></html>"


class Nginx:
    """Serves the pages at /, and at /unnamed/ without a validator."""

    def __init__(self, directory):
        self.directory, self.port, self.version = Path(directory), free_port(), 0
        (self.directory / "pages").mkdir()
        self.write()
        (self.directory / "nginx.conf").write_text(f"""
daemon off; pid {directory}/pid; error_log {directory}/error.log; worker_processes 1;
events {{ worker_connections 4096; }}
http {{ types {{ text/html html; }} access_log off; sendfile on; keepalive_requests 1000000;
  client_body_temp_path {directory}/t1; proxy_temp_path {directory}/t2; fastcgi_temp_path {directory}/t3;
  uwsgi_temp_path {directory}/t4; scgi_temp_path {directory}/t5;
  server {{ listen 127.0.0.1:{self.port} backlog=4096; root {directory}/pages;
    location /unnamed/ {{ alias {directory}/pages/; etag off; if_modified_since off; add_header Last-Modified ""; }} }} }}""")
        self.directory.chmod(0o755)
        self.process = subprocess.Popen([needs.program("nginx", "nginx-light"), "-p", directory, "-c",
                                         self.directory / "nginx.conf"], stderr=subprocess.DEVNULL)
        wait_until("nginx", lambda: accepts(self.port), 30)

    def write(self):
        self.version += 1
        for n in range(PAGES):
            (self.directory / "pages" / f"{n}.html").write_text(page(n, self.version))

    def urls(self, kind):
        path = "unnamed/" if kind == UNNAMED else ""
        return [f"http://127.0.0.1:{self.port}/{path}{n}.html" for n in range(PAGES)]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Ours:
    """Some monitors of all the pages, which are looked at together: a stream of pages, as the peers have one."""

    NAME, MONITORS = "vedette", 4

    def __init__(self, postgres, binary, urls):
        self.postgres, self.database = postgres, "bench_pages"
        postgres.create(self.database)
        migrate(binary, postgres.url(self.database))
        self.connection, self.looking = postgres.connect(self.database), postgres.connect(self.database)
        self.cursor = self.connection.cursor()
        self.cursor.execute(due.seed(1, self.MONITORS, PAGES))
        self.cursor.execute("update monitor set struct = %s", (json.dumps(FIELDS),))
        self.cursor.execute("update monitor_row set baseline = '{}', subject = json_build_object('url', (%s::text[])[position + 1])",
                            (urls,))
        self.cursor.execute("vacuum analyze")
        self.service = Vedette(binary, postgres.url(self.database), "admin,scheduler,worker", {
            "VEDETTE_PROBES_LOW_KIND": "web", "VEDETTE_WORKER_PER_HOST_MAX": "256", "VEDETTE_LOG_LEVEL": "error",
            "VEDETTE_SCHEDULER_SPREAD": "0"})

    def open(self):
        self._look()
        self._check()

    def _closed(self):
        self.cursor.execute("select from monitor_sched where open_tick_id is not null or next_run_at <= now()")
        if self.cursor.rowcount:
            return False
        self.cursor.execute("select from chunk limit 1")
        return self.cursor.rowcount == 0

    def _look(self):
        self.cursor.execute("update monitor_sched set next_run_at = now(), anchor_at = now(); notify vedette_due")
        wait_until("the pages to be looked at", self._closed, 600, every_s=0.01)

    def _check(self):
        """No page may have failed: a failure costs less than a look."""
        self.cursor.execute("select count(*) from row_state where outcome not in (1, 2)")
        failed = self.cursor.fetchone()[0]
        assert failed == 0, f"{failed} pages could not be read"

    def round(self, looks, between):
        """So many looks at every page; what `between` does is not measured."""
        total = {"seconds": 0.0, "process_s": 0.0, "postgres_s": 0.0, "pages": 0}
        for _ in range(looks):
            between()
            meter = Meter(self.postgres, self.looking, [self.service.pid])
            self._look()
            used = meter.end()
            for name, key in (("seconds", "at"), ("process_s", "process_cpu"), ("postgres_s", "postgres_cpu")):
                total[name] += used[key]
            total["pages"] += PAGES * self.MONITORS
        self._check()
        return total

    def close(self):
        self.service.close()
        self.connection.close()
        self.looking.close()
        self.postgres.drop(self.database)


def as_cost(seen):
    """The figures of a round as those of `figures.cost`."""
    process_s = seen.get("process_s", seen.get("cpu_s", 0.0))
    return {"per_s": seen["pages"] / seen["seconds"], "process_us": process_s / seen["pages"] * 1e6,
            "postgres_us": seen.get("postgres_s", 0.0) / seen["pages"] * 1e6}


def measure(kind, nginx, postgres, binary, directory, wanted, options):
    """The figures of each by its name. Peers are started one at a time: an idle server of one must not disturb another."""
    between = nginx.write if kind == CHANGED else lambda: None
    say(f"{kind}: vedette")
    ours = Ours(postgres, binary, nginx.urls(kind))
    try:
        ours.open()
        looks = 1 if options.quick else 3
        found = {Ours.NAME: summaries([as_cost(ours.round(looks, between)) for _ in range(options.rounds)])}
    finally:
        ours.close()
    for name in wanted:
        say(f"{kind}: {name}")
        own = Path(directory) / f"{name}-{len(list(Path(directory).iterdir()))}"
        own.mkdir()
        peer = PEERS[name](own, nginx.urls(kind))
        try:
            peer.open()
            rounds = []
            for _ in range(options.rounds):
                between()
                rounds.append(as_cost(peer.round()))
            found[f"{name} {peer.version}"] = summaries(rounds)
        finally:
            peer.close()
    return found


def judge(kind, found, targets):
    """Beside each peer; what was promised is held against the best, by rate and by CPU each."""
    ours = found[Ours.NAME]
    peers = {name: f for name, f in found.items() if name != Ours.NAME}
    if not peers:
        return
    fastest = max(peers, key=lambda name: peers[name]["per_s"]["median"])
    cheapest = min(peers, key=lambda name: cpu_us(peers[name]))
    for name, f in peers.items():
        static = kind == STATIC
        targets.against(kind, ours, name, f, PROMISED if static and name == fastest else None,
                        PROMISED if static and name == cheapest else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(PEERS), help="the peers")
    parser.add_argument("--json", help="where to write all figures")
    add_server_option(parser)
    options = parser.parse_args()
    wanted = parts_of(parser, options.only, PEERS)
    if options.quick:
        options.rounds = 1
    server = chosen_server(options)
    result, targets = {"server": server, "at": time.strftime("%Y-%m-%d"), "pages": {}}, Targets()
    postgres = Postgres(server)
    try:
        with tempfile.TemporaryDirectory(prefix="vedette-bench-pages-", dir="/var/tmp", ignore_cleanup_errors=True) as directory:
            nginx = Nginx(directory)
            try:
                for kind in (STATIC,) if options.quick else (STATIC, UNNAMED, CHANGED):
                    found = measure(kind, nginx, postgres, Path(options.build) / "vedette", directory, wanted, options)
                    result["pages"][kind] = found
                    judge(kind, found, targets)
                    table(f"{kind[0].upper()}{kind[1:]}: {PAGES:,} of {PAGE_BYTES // 1000} kB",
                          ["", "a second", "process us", "PostgreSQL us"],
                          [[name, f"{f['per_s']['median']:,.0f}", f"{f['process_us']['median']:,.0f}",
                            f"{f['postgres_us']['median']:,.0f}"] for name, f in found.items()])
            finally:
                nginx.close()
    finally:
        postgres.close()
    targets.print()
    if options.json:
        Path(options.json).write_text(json.dumps(result | {"targets": targets.lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
