#!/usr/bin/python3
"""What a page costs the web probe, and beside it Python's lxml on the same pages in the same run.

    bench/probe/run.py [--build build/release] [--seconds 3] [--json FILE]

The pages are PostgreSQL's manual (Debian's postgresql-doc-15), served by an nginx of its own: the
smallest with every field, the one nearest to 200 kB, and a large one made of the four largest.
"""
import argparse
import http.client
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import needs  # noqa: E402

MANUAL = Path("/usr/share/doc/postgresql-doc-15/html")
needs.modules("python3-lxml", "lxml")
needs.modules("python3-cssselect", "cssselect")
needs.program("nginx", "nginx-light")
needs.file(MANUAL, "postgresql-doc-15")
import lxml.html  # noqa: E402
from lxml.cssselect import CSSSelector  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ["css:title", "css:h2.title, span.refentrytitle", "xpath://a[@accesskey='h']/@title",
          "css:link[rel=next] @href", "css:div.navheader th", "xpath:count(//a)"]


def selectors():
    """FIELDS for lxml, compiled once: functions from a tree to the value."""
    def fold(text):
        return " ".join(text.split())

    def css(selector, attribute):
        compiled = CSSSelector(selector)

        def value(tree):
            found = compiled(tree)
            return (found[0].get(attribute) if attribute else fold(found[0].text_content())) if found else None
        return value

    def xpath(expression):
        compiled = lxml.etree.XPath(expression)

        def value(tree):
            found = compiled(tree)
            return found if isinstance(found, float) else fold(str(found[0])) if found else None
        return value

    out = []
    for field in FIELDS:
        language, selector = field.split(":", 1)
        selector, _, attribute = selector.partition(" @") if language == "css" else (selector, "", "")
        out.append(css(selector, attribute) if language == "css" else xpath(selector))
    return out


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(seconds, page):
    page()
    began, used, n = time.perf_counter(), cpu(), 0
    while time.perf_counter() - began < seconds:
        page()
        n += 1
    return {"pages": n, "pages_per_s": n / (time.perf_counter() - began), "cpu_us_per_page": (cpu() - used) * 1e6 / n}


def with_lxml(seconds, body, port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    values = selectors()

    def fetch():
        connection.request("GET", path)
        return connection.getresponse().read()

    def parse(page):
        return lxml.html.document_fromstring(page, parser=lxml.html.HTMLParser(encoding="utf-8"))

    def whole():
        tree = parse(fetch())
        return [value(tree) for value in values]

    tree = parse(body)
    assert any(value(tree) is not None for value in values)
    return {"fetch": measure(seconds, fetch), "parse": measure(seconds, lambda: parse(body)),
            "extract": measure(seconds, lambda: [value(tree) for value in values]),
            "whole": measure(seconds, whole)}


def pages():
    by_size = sorted(MANUAL.glob("*.html"), key=lambda p: p.stat().st_size)
    small = next(p for p in by_size if b"accesskey=\"h\"" in p.read_bytes())
    typical = min(by_size, key=lambda p: abs(p.stat().st_size - 200_000))
    bodies = [p.read_bytes().split(b"<body", 1)[1].split(b">", 1)[1].rsplit(b"</body>", 1)[0] for p in by_size[-4:]]
    head = typical.read_bytes().split(b"<body", 1)[0]
    return {"small": small.read_bytes(), "typical": typical.read_bytes(),
            "large": head + b"<body>" + b"".join(bodies) + b"</body></html>"}


def start_nginx(directory, port):
    (directory / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {directory}/pid; error_log {directory}/error.log;
        events {{ worker_connections 512; }}
        http {{ types {{ text/html html; }} access_log off; keepalive_requests 1000000;
          client_body_temp_path {directory}/t1; proxy_temp_path {directory}/t2; fastcgi_temp_path {directory}/t3;
          uwsgi_temp_path {directory}/t4; scgi_temp_path {directory}/t5;
          server {{ listen 127.0.0.1:{port}; root {directory};
            location /unnamed/ {{ alias {directory}/; etag off; if_modified_since off; add_header Last-Modified ""; }} }} }}""")
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", directory, "-c", directory / "nginx.conf"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.02)
    raise SystemExit((directory / "error.log").read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json", help="where to write all figures")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="vedette-bench-") as name:
        directory = Path(name)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        nginx = start_nginx(directory, port)
        try:
            for kind, body in pages().items():
                (directory / f"{kind}.html").write_bytes(body)
                url = f"http://127.0.0.1:{port}/{kind}.html"
                ours = subprocess.run(
                    [Path(options.build) / "bench/probe/probe_bench", str(options.seconds), directory / f"{kind}.html",
                     url, url.replace(f"/{kind}", f"/unnamed/{kind}"), *FIELDS], check=True, capture_output=True, text=True)
                results[kind] = {"bytes": len(body), "vedette": json.loads(ours.stdout),
                                 "lxml": with_lxml(options.seconds, body, port, f"/{kind}.html")}
        finally:
            nginx.terminate()
            nginx.wait()
    print("| page | step | vedette us CPU | lxml us CPU | times | vedette pages/s | lxml pages/s |\n|---|---|---|---|---|---|---|")
    for kind, result in results.items():
        for step in ("fetch", "parse", "extract", "whole", "same bytes", "not modified"):
            a, b = result["vedette"][step], result["lxml"].get(step, result["lxml"]["whole"])
            print(f"| {kind} ({result['bytes'] // 1000} kB) | {step} | {a['cpu_us_per_page']:.0f} | "
                  f"{b['cpu_us_per_page']:.0f} | {b['cpu_us_per_page'] / max(a['cpu_us_per_page'], 1e-9):.1f} | "
                  f"{a['pages_per_s']:.0f} | {b['pages_per_s']:.0f} |")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
