"""Benchmarks without running them: what they say to people who have run ./quickstart alone, what they hold a figure
against, and that what they measure is really there."""

import http.server
import json
import re
import subprocess
import sys
import threading
import types
from importlib.machinery import SourceFileLoader
from xml.etree import ElementTree

import pytest
from conftest import ROOT
from servers import QuietHandler

sys.path.insert(0, str(ROOT / "bench" / "lib"))
import figures  # noqa: E402
import findings  # noqa: E402
import pictures  # noqa: E402

BENCHMARKS = sorted([p for p in (ROOT / "bench").iterdir() if p.is_file() and p.suffix == ""]
                    + list((ROOT / "bench").glob("*/run.py")))
WITH_PARTS = ["checks", "jobs", "lists", "pages/run.py", "run", "search", "workflows"]


def name(path):
    return str(path.relative_to(ROOT))


def load(benchmark):
    loader = SourceFileLoader(f"bench_{benchmark}", str(ROOT / "bench" / benchmark))
    module = types.ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


def test_a_benchmark_names_the_package_that_it_needs():
    script = "import sys; sys.modules['psycopg2'] = None; sys.path.insert(0, 'bench/lib'); import machine"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "apt-get install python3-psycopg2" in done.stderr
    assert "Traceback" not in done.stderr
    script = "import sys; sys.path.insert(0, 'bench/lib'); import needs; needs.program('no-such-program', 'wrk')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "apt-get install wrk" in done.stderr


def test_a_benchmark_runs_on_debians_server_on_a_tuned_one_or_on_both_and_says_which(tmp_path):
    (tmp_path / "bench").write_text("import sys\nsys.path.insert(0, %r)" % str(ROOT / "bench" / "lib") + """
import argparse, json
import machine
parser = argparse.ArgumentParser()
parser.add_argument("--json")
machine.add_server_option(parser)
options = parser.parse_args()
server = machine.chosen_server(options)
open(options.json, "w").write(json.dumps({"server": server, "settings": {**machine.DURABLE, **machine.SERVERS[server]}}))
""")

    def run(*arguments):
        done = subprocess.run([sys.executable, tmp_path / "bench", "--json", tmp_path / "out.json", *arguments],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert "PostgreSQL: debian" in run()
    kept = json.loads((tmp_path / "out.json").read_text())
    assert kept["server"] == "debian"
    assert set(kept["settings"]) == {"fsync", "synchronous_commit", "full_page_writes", "max_connections"}
    assert kept["settings"]["fsync"] == "on"
    assert "PostgreSQL: tuned" in run("--server", "tuned")
    said = run("--server", "both")
    assert said.index("PostgreSQL: debian") < said.index("PostgreSQL: tuned")
    for server in ("debian", "tuned"):
        assert json.loads((tmp_path / f"out.{server}.json").read_text())["server"] == server


def test_what_a_benchmark_names_is_installed_by_bench_tools():
    listed = (ROOT / "scripts" / "packages").read_text().split("[bench]")[1].split()
    text = "".join(path.read_text() for path in [*BENCHMARKS, *(ROOT / "bench" / "lib").glob("*.py")])
    named = set(re.findall(r'needs\.(?:program|file)\([^,\n]+, "([^"]+)"\)|needs\.modules\("([^"]+)"', text))
    named = {package for pair in named for package in pair if package}
    assert {"nginx-light", "python3-dnspython"} <= named
    assert named <= set(listed), f"not under [bench]: {named - set(listed)}"


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=name)
def test_a_benchmark_says_how_it_is_run(benchmark):
    done = subprocess.run([sys.executable, benchmark, "--help"], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0 or "apt-get install" in done.stderr, done.stderr


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=name)
def test_a_benchmark_is_described(benchmark):
    heading = "bench/" + (benchmark.name if benchmark.suffix == "" else benchmark.parent.name)
    assert f"\n## {heading}\n" in (ROOT / "bench" / "README.md").read_text()


@pytest.mark.parametrize("benchmark", WITH_PARTS)
def test_a_part_that_there_is_not_is_refused_and_those_that_there_are_are_described(benchmark):
    done = subprocess.run([sys.executable, ROOT / "bench" / benchmark, "--only", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr.split("there is ")[1].strip().split(", ")
    section = (ROOT / "bench" / "README.md").read_text().split(f"\n## bench/{benchmark.split('/')[0]}\n")[1].split("\n## ")[0]
    assert len(said) > 1
    assert [part for part in said if f"`{part}`" not in section] == []


def test_packages_of_peers_are_pinned_by_version_and_by_hash():
    pinned = json.loads((ROOT / "bench" / "peers" / "package.json").read_text())["dependencies"]
    locked = json.loads((ROOT / "bench" / "peers" / "package-lock.json").read_text())["packages"]
    assert locked[""]["dependencies"] == pinned
    for script in (ROOT / "bench" / "peers").glob("*.mjs"):
        for package in re.findall(r'^import .* from "(?!node:)([^"]+)"', script.read_text(), re.MULTILINE):
            assert package in pinned or package == "pg", f"{script.name} imports {package}"  # pg comes with the queues
            assert "integrity" in locked[f"node_modules/{package}"]
    assert all(re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version) for version in pinned.values()), pinned


def costs(per_s, postgres_us, process_us):
    one = {"per_s": per_s, "postgres_us": postgres_us, "process_us": process_us, "wal_bytes": 100.0, "transactions": 0.1}
    return figures.summaries([one, one | {"per_s": per_s * 2}, one])


def test_a_target_is_met_or_not_by_rate_and_by_cpu():
    targets = figures.Targets()
    ours, theirs = costs(1000, 10, 10), costs(100, 50, 50)
    targets.against("a", ours, "b", theirs, (">=", 10))
    targets.against("a", ours, "b", theirs, (">=", 10.5), (">=", 5))
    targets.postgres_cpu("b", theirs, "a", ours, ("<=", 4))
    targets.figure("p99", 3.0, ("<=", 3), "ms")
    targets.figure("told", 3.0, None, "ms")
    assert [line["met"] for line in targets.lines] == ["yes", "NO, yes", "NO", "yes", ""]
    assert targets.lines[0]["by_rate"] == pytest.approx(10)
    assert targets.lines[0]["by_cpu"] == pytest.approx(5)
    assert targets.lines[2]["measured"] == pytest.approx(5)


def test_the_run_of_all_finds_every_target_and_tells_how_much_of_it_was_reached():
    run, targets = load("run"), figures.Targets()
    targets.against("a", costs(1000, 10, 10), "b", costs(100, 50, 50), (">=", 20))
    targets.postgres_cpu("c", costs(1000, 10, 10), "d", costs(100, 5, 5), ("<=", 4))
    targets.figure("rate", 0.4, (">=", 0.8), "x")
    targets.figure("told", 3.0, None, "ms")
    # The least of two promises counts; one of CPU alone is one.
    targets.against("d", costs(1000, 10, 10), "b", costs(100, 50, 50), (">=", 5), (">=", 50))
    targets.against("e", costs(1000, 10, 10), "b", costs(100, 50, 50), None, (">=", 2.5))
    lines = list(run.lines_of({"targets": targets.lines[:2], "waiting": {"targets": targets.lines[2:]}, "b": [{"per_s": 1}]}))
    assert [run.share_of_target(line) for line in lines] == [pytest.approx(0.5), pytest.approx(2), pytest.approx(0.5), None,
                                                             pytest.approx(0.1), pytest.approx(2)]
    assert [(line["target"], line["met"]) for line in targets.lines[-2:]] == [(">= 5 x, CPU >= 50.00 x", "yes, NO"),
                                                                             ("CPU >= 2.50 x", "yes")]


def test_a_figure_has_fallen_under_half_of_what_it_is_promised_or_known_to_reach():
    run = load("run")
    assert set(run.KNOWN_SHARES) and all(name.split(":")[0] in run.RUNS for name in run.KNOWN_SHARES)
    bench, name = "checks", "vedette (b)"
    known = run.KNOWN_SHARES[f"{bench}: {name}"]
    shares = [(None, name, False), (0.49, "another", True), (0.5, "another", False), (known * 0.49, name, True), (known * 0.51, name, False)]
    assert [run.has_fallen({"bench": bench, "name": one, "share": share}) for share, one, _ in shares] == [
        fallen for _, _, fallen in shares]


def test_the_table_of_all_is_a_page_too():
    run, targets = load("run"), figures.Targets()
    targets.against("a", costs(1000, 10, 10), "b", costs(100, 50, 50), (">=", 20))
    page = run.markdown(targets.COLUMNS, [run.shown(targets.lines[0] | {"bench": "checks"})])
    assert page.splitlines()[-3:] == [
        "|  | ours | beside | its | ours over its | target | met |", "| --- | --- | --- | --- | --- | --- | --- |",
        "| checks: a | 1,000 a second, 20.0 us | b | 100 a second, 100.0 us | 10.00 x, CPU 5.00 x | >= 20 x | NO |"]


def test_a_benchmark_that_does_not_end_is_ended_so_that_it_ends_what_it_started(tmp_path):
    run, ended = load("run"), tmp_path / "ended"
    process = subprocess.Popen([sys.executable, "-c", "import sys, time\ntry:\n  print('up', flush=True); time.sleep(600)\n"
                                f"finally:\n  open({str(ended)!r}, 'w')"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"up\n"
    run.end(process)
    assert process.poll() is not None
    assert ended.exists()


def test_a_picture_has_a_bar_for_each_figure_and_tells_what_was_missed():
    drawn = ElementTree.fromstring(pictures.bars("checks & jobs", [("met <yes>", 2.0), ("missed", 0.5), ("far", 1e9)]))
    rows = [e for e in drawn if e.tag.endswith("rect")][1:]
    assert [e.get("fill") for e in rows] == [pictures.MET, pictures.MISSED, pictures.MET]
    widths = [float(e.get("width")) for e in rows]
    assert widths[1] < widths[0] < widths[2] <= pictures.WIDTH - pictures.LABELS


def test_workflows_are_held_against_every_line_that_was_promised():
    workflows = load("workflows")
    options = types.SimpleNamespace(quick=False)
    beside = ["graphile, a job a row", "graphile, a job for 256 rows", "Node's streams", "bare SQL",
              "DBOS, workflows of 2 steps", "GET /monitors/{id}, 10 rows"]
    spread = {"p99": {"median": 2.0}}
    result = {each: costs(100, 10, 10) for each in [*beside, "vedette, 1,000,000 rows", "vedette, runs of one row"]}
    result |= {"live": {10: costs(100, 10, 10), 5_000_000: costs(70, 10, 10)},
               "rss_mib": {10_000: {"api": 80, "worker": 290}, 1_000_000: {"api": 90, "worker": 310}},
               "paced_ms": {"vedette": spread, "DBOS": spread}, "lag_ms": {"alone": spread, "beside": spread}}
    compared = [(line["beside"] or line["name"].split(":")[0], line["target"], line["met"])
              for line in workflows.targets_of(result, options).lines]
    assert compared == [
        ("graphile, a job a row", ">= 10 x", "NO"),
        ("graphile, a job for 256 rows", ">= 1 x", "yes"),
        ("Node's streams", ">= 0.2 x", "yes"),
        ("bare SQL", "<= 3 x PostgreSQL's CPU", "yes"),
        ("DBOS, workflows of 2 steps", ">= 3 x", "NO"),
        ("runs of one row, p99 over DBOS's", "<= 1 x", "yes"),
        ("GET /monitors/{id}, 10 rows", ">= 0.8 x", "yes"),
        ("GET /monitors/{id}, 10 rows", ">= 0.8 x", "NO"),
        ("live status of the longest run over the shortest", ">= 0.9 x", "NO"),
        ("memory after 10,000 rows", "<= 300 MiB", "yes"),
        ("memory after 1,000,000 rows", "<= 300 MiB", "NO"),
        ("memory after the longest run over the shortest", "", ""),
        ("checks' lag p99 beside a big run over alone", "<= 2 x", "yes"),
    ]
    assert workflows.targets_of({}, options).lines == [], "a part alone has no table of targets"


def test_counts_are_held_against_every_line_that_was_promised():
    search, targets = load("search"), figures.Targets()
    line = {"at_once": 1, "statuses": {200: 40}, "p50_ms": 1.0}
    lines = [{**line, "line": "small", "share": 0.05, "p99_ms": 299.0}, {**line, "line": "all", "share": 1.0, "p99_ms": 301.0},
             {**line, "line": "large", "share": 0.5, "p99_ms": 5_000.0},
             {**line, "line": "small", "share": 0.05, "p99_ms": 900.0, "at_once": 8}]
    search.report_values({"entities": 1, "import_s": 1.0, "bytes": 1, "lines": lines}, targets)
    alone, beside = (figures.summaries([{"lag_p50": 1, "lag_p99": 10 * lag, "read_p50": 1, "read_p99": 4 * read}])
                     for lag, read in ((1, 1), (1.05, 1.2)))
    search.report_beside({"counted": "c", "statuses": {200: 8}, "alone": alone, "beside": beside}, targets)
    assert [(line["target"], line["met"]) for line in targets.lines] == [
        ("<= 300 ms", "yes"), ("<= 300 ms", "NO"), ("<= 5500 ms", "yes"), ("", ""), ("<= 1.1 x", "yes"), ("<= 1.1 x", "NO")]


def test_counts_beside_something_go_on_until_it_ends_and_tell_their_fault():
    search = load("search")
    companies = types.SimpleNamespace(service=types.SimpleNamespace(api_port=1), key="key")
    search.ask = lambda *_: (200, {})
    with search.Counting(companies) as counting:
        assert counting.statuses[200] >= 1
    assert not any(client.is_alive() for client in counting.clients)

    def refuse(*_):
        raise ConnectionError("nobody listens")

    search.ask = refuse
    with pytest.raises(ConnectionError), search.Counting(companies):
        pass


def test_findings_are_written_by_the_statements_of_records():
    known = findings.statements()
    columns = known["investigation_lock"].split("select ")[1].split("\nfrom")[0].replace("\n", " ").split(", ")
    assert columns[4:6] == ["subjects", "next_seq"]
    assert "subjects = %(subjects)s, next_seq = %(next_seq)s" in known["investigation_save"]
    assert set(re.findall(r"%\((\w+)\)s", known["investigation_lock"] + known["investigation_save"])) == {
        "id", "job_id", "subjects", "next_seq", "budget_reached"}


class Pages:
    """Serves pages of findings with these numbers, one a request."""

    def __init__(self, *pages):
        left = list(pages)

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                page = left.pop(0)
                body = json.dumps({"items": [{"object": {"type": "text", "value": str(n)}} for n in page],
                                   "next_cursor": "c" if left else None, "resume_cursor": "c"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.api_port = self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize("pages", [[[1, 2], [4]], [[1, 2], [2, 3]], [[2, 1]]], ids=["skipped", "repeated", "out of order"])
def test_the_reader_of_findings_notices_what_is_wrong(pages):
    with Pages(*pages) as service, pytest.raises(AssertionError, match="stands where"):
        findings.Reader(service, "key", "id", 4).read()


def test_the_reader_of_findings_reads_on_from_the_present_end():
    with Pages([1, 2], [], [3]) as service:
        seen = findings.Reader(service, "key", "id", 3).read()
    assert seen["pages"] == 2
