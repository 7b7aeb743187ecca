#!/usr/bin/python3
"""Pages a second and the CPU of one, beside what else watches pages, in one run: a thousand pages of 50 kB on an nginx.

    bench/pages/run.py [--build build/release] [--rounds 3] [--quick] [--only changedetection.io,urlwatch] [--json FILE]

The peers are changedetection.io (by pip, into build/pip the first time), urlwatch and blackbox_exporter. The
CPU counted is that of the program that reads the pages: for vedette, its process and PostgreSQL. nginx and wrk count for nobody.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import needs  # noqa: E402
from figures import Targets, cpu_us, parts_of, say, summaries, table  # noqa: E402
from machine import ROOT, Postgres, add_server_option, chosen_server, free_port  # noqa: E402
from page_peers import PEERS  # noqa: E402
from servers import start_nginx  # noqa: E402
from watched_pages import WatchedPages, as_cost  # noqa: E402

OURS, MONITORS, PAGES, PAGE_BYTES = "vedette", 4, 1_000, 50_000
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
        self.directory.chmod(0o755)
        self.process = start_nginx(self.directory, self.port, f"""
            types {{ text/html html; }} access_log off; sendfile on; keepalive_requests 1000000;
            server {{ listen 127.0.0.1:{self.port} backlog=4096; root {directory}/pages;
                      location /unnamed/ {{ alias {directory}/pages/; etag off; if_modified_since off;
                                            add_header Last-Modified ""; }} }}""",
                                   program=needs.program("nginx", "nginx-light"), main="worker_processes 1;",
                                   connections=4096)

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


def measure(kind, nginx, postgres, binary, directory, wanted, options):
    """The figures of each by its name. Peers are started one at a time: an idle server of one must not disturb another."""
    between = nginx.write if kind == CHANGED else lambda: None
    say(f"{kind}: vedette")
    ours = WatchedPages(postgres, binary, "bench_pages", nginx.urls(kind), MONITORS, FIELDS, {})
    try:
        ours.open()
        looks = 1 if options.quick else 3
        found = {OURS: summaries([as_cost(ours.round(looks, between)) for _ in range(options.rounds)])}
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


def compare(kind, found, targets):
    """Beside each peer; what was promised is held against the best, by rate and by CPU each."""
    ours = found[OURS]
    peers = {name: f for name, f in found.items() if name != OURS}
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
                    compare(kind, found, targets)
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
