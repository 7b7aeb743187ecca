#!/usr/bin/python3
"""Deliveries a second, what one costs and how soon it arrives, beside a bare curl-multi sender without a database.

    bench/delivery/run.py [--build DIR] [--count N] [--receivers 1,100,10000] [--rounds 3] [--json FILE]

In one run, on a private PostgreSQL (fsync on) and against a private nginx. DIR is an optimised build with
-DVEDETTE_BENCH=ON (default build/release). Prints tables of medians; --json keeps every round."""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import needs  # noqa: E402
from figures import Targets, say  # noqa: E402
from machine import (ROOT, Postgres, add_server_option, chosen_server, environment, free_port, migrate,  # noqa: E402
                     tree_cpu_s)
from servers import start_nginx  # noqa: E402

FILL_AHEAD_S = 2  # inserting what one round delivers takes a fifth of it
IN_FLIGHT = 512  # of the bare sender: as [delivery] in_flight_max
RECEIVERS_PER_ORGANISATION = 100
METADATA = '{"team":"sales"}'
LARGE_METADATA = json.dumps({"note": "x" * 12_000})
# No receiver's breaker opens, and nothing that failed is due again within a round.
SETTINGS = {"VEDETTE_DELIVERY_BREAKER_FAILURES": "1000000", "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "3600000"}


def host(n):
    return f"127.1.{n // 250}.{n % 250 + 1}"


class Nginx:
    """Answers every POST with 200, and under /fail with 500; over plain HTTP and over TLS, kept alive."""

    def __init__(self, directory):
        self.dir = directory / "nginx"
        self.dir.mkdir()
        self.http, self.tls = free_port(), free_port()
        self.ca = self.dir / "cert.pem"
        names = ",".join(f"IP:{host(n)}" for n in range(1, 101))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", self.dir / "key.pem", "-out", self.ca, "-days", "2", "-subj", "/CN=bench",
                        "-addext", f"subjectAltName={names}"], check=True, capture_output=True)
        self.process = start_nginx(self.dir, self.http, f"""
            access_log off; keepalive_requests 100000000; keepalive_timeout 600;
            ssl_certificate {self.ca}; ssl_certificate_key {self.dir}/key.pem;
            server {{ listen {self.http} backlog=4096; listen {self.tls} ssl backlog=4096;
                      location / {{ return 200 "ok"; }} location /fail {{ return 500 "no"; }} }}""",
                                   program=needs.program("nginx", "nginx-light"), connections=15000)

    def close(self):
        self.process.terminate()
        self.process.wait(10)


class Bench:
    database = "bench"

    def __init__(self, options, directory, settings=None):
        self.build, self.dir, self.count = options.build.resolve(), directory, options.count
        self.postgres, self.nginx = Postgres(options.server, settings=settings), Nginx(directory)
        self.postgres.create(self.database)
        self.connection = self.postgres.connect(self.database)
        self.environment = environment(self.postgres.url(self.database),
                                       {"VEDETTE_NET_CA_FILE": str(self.nginx.ca), **SETTINGS})
        migrate(self.build / "vedette", self.postgres.url(self.database))

    def sql(self, statement):
        """The first value, if there is one."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def program(self, name, *arguments):
        program = self.build / "bench" / "delivery" / name
        if not program.exists():
            sys.exit(f"bench: {program} is not built. Run: cmake --preset release -DVEDETTE_BENCH=ON && "
                     f"ninja -C build/release {name}")
        done = subprocess.run([program, *map(str, arguments)], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {name} {arguments}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout) if done.stdout else None

    def seed(self, receivers, scheme, port, path="/hook", metadata=METADATA):
        """Receivers at addresses of their own, a hundred to an organisation, a monitor each."""
        self.sql("truncate organisation cascade; truncate delivery; truncate delivery_attempt")
        lines, organisations, endpoints, monitors = [], [], [], []
        org = None
        for n in range(1, receivers + 1):
            if (n - 1) % RECEIVERS_PER_ORGANISATION == 0:
                org = uuid.uuid4()
                organisations.append(f"('{org}', 'bench')")
            endpoint, monitor, url = uuid.uuid4(), uuid.uuid4(), f"{scheme}://{host(n)}:{port}{path}"
            endpoints.append(f"('{endpoint}', '{org}', '{scheme}', '{host(n)}', {port})")
            monitors.append(f"('{monitor}', '{org}', 'm', '1h', 1, 0, 2, '{{n}}', '{{}}', '{metadata}',"
                            f" '{url}', '{{0,1,2}}', '{endpoint}')")
            lines.append(f"{org} {endpoint} {monitor} {url}\n")
        self.sql(
            f"insert into organisation (id, name) values {','.join(organisations)};"
            f"insert into endpoint (id, org_id, scheme, host, port) values {','.join(endpoints)};"
            "insert into monitor (id, org_id, name, frequency, tier, subject_type, status, key_columns, struct,"
            f" metadata, webhook_url, webhook_event_types, endpoint_id) values {','.join(monitors)}; analyze;")
        self.targets = self.dir / "targets"
        self.targets.write_text("".join(lines))
        self.program("bench_delivery", "secrets", self.targets)

    def fill(self):
        """Pending, and due when this returns: with ids of version 7, in their order, and twenty of each instant, as a
        record leaves those of its checks. They are placed ahead of their time: so many in one transaction commit long
        after its own, and beside a held snapshot such ones are found a second later (docs/decisions/0079)."""
        due_at = time.time() + FILL_AHEAD_S
        ms = "lpad(to_hex((extract(epoch from now()) * 1000)::bigint + n / 20), 12, '0')"
        self.sql(
            "insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, available_at)"
            f" select ({ms} || '7' || substr(md5(random()::text), 14))::uuid, m.org_id, m.endpoint_id, m.id,"
            f" gen_random_uuid(), gen_random_uuid(), 0, to_timestamp({due_at}) - ({self.count} - n) / 20 * interval '0.1 ms'"
            f" from generate_series(0, {self.count - 1}) n join (select *, row_number() over () - 1 as k"
            " from monitor) m on m.k = n % (select count(*) from monitor); analyze delivery")
        time.sleep(max(0, due_at - time.time()))

    def measured(self, *arguments, delivered):
        self.sql("checkpoint")
        lsn, cpu = self.sql("select pg_current_wal_lsn()"), tree_cpu_s(self.postgres.pid)
        fpi = self.sql("select wal_fpi from pg_stat_wal")
        result = self.program("bench_delivery", *arguments)
        result["postgres_s"] = tree_cpu_s(self.postgres.pid) - cpu
        result["wal"] = int(self.sql(f"select pg_wal_lsn_diff(pg_current_wal_lsn(), '{lsn}')"))
        result["fpi"] = self.sql("select wal_fpi from pg_stat_wal") - fpi
        if result["delivered"] != delivered:
            sys.exit(f"bench: {result['delivered']} delivered, not {delivered}")
        return result

    def bare(self, receivers, scheme, port):
        return self.program("bench_bare_sender", f"{scheme}://{{n}}:{port}/hook", receivers, self.count, IN_FLIGHT,
                            self.nginx.ca if scheme == "https" else "")

    def committed(self, receivers, scheme, port):
        self.seed(receivers, scheme, port)
        return self.measured("commit", self.targets, self.count, delivered=self.count)

    def claimed(self, receivers, scheme, port):
        self.seed(receivers, scheme, port)
        self.fill()
        return self.measured("claim", self.targets, delivered=self.count)

    def failed(self, receivers, scheme, port, metadata=METADATA):
        """Every attempt is answered 500: claimed, sent, given back for later."""
        self.seed(receivers, scheme, port, "/fail", metadata)
        self.fill()
        return self.measured("claim", self.targets, delivered=0)

    def failed_large(self, receivers, scheme, port):
        return self.failed(receivers, scheme, port, LARGE_METADATA)

    def close(self):
        self.connection.close()
        self.nginx.close()
        self.postgres.close()


LINES = {"bare": "bare sender, no database", "committed": "committed, sent, settled",
         "claimed": "claimed, sent, settled", "failed": "claimed, failed, given back",
         "failed_large": "the same, metadata of 12 kB"}


def figures(result):
    n = result["count"]
    parts = {part: 1e6 * result.get(f"{part}_s", 0) / n for part in ("postgres", "user", "kernel")}
    return {"per_second": n / result["seconds"], **{f"{part}_us": us for part, us in parts.items()},
            "cpu_us": sum(parts.values()), "wal_bytes": result.get("wal", 0) / n,
            "full_page_images": result.get("fpi", 0) / n}


def summary(rounds):
    return {key: {"median": statistics.median(values), "min": min(values), "max": max(values)}
            for key in rounds[0] for values in [[r[key] for r in rounds]]}


def workloads(options):
    sizes = [int(n) for n in options.receivers.split(",")]
    for scheme in ("http", "https"):
        for receivers in sizes:
            if scheme == "http" or receivers <= 100:  # the certificate has a hundred names
                yield scheme, receivers, ("bare", "committed", "claimed")
    yield "http", 100, ("failed", "failed_large")


def throughput(bench, options):
    rounds = {}
    for n in range(options.rounds):
        for scheme, receivers, lines in workloads(options):
            say(f"round {n + 1}: {receivers} receivers, {scheme}")
            port = bench.nginx.http if scheme == "http" else bench.nginx.tls
            for line in lines:
                rounds.setdefault((scheme, receivers, line), []).append(
                    figures(getattr(bench, line)(receivers, scheme, port)))
    rows = []
    for (scheme, receivers, line), measured in rounds.items():
        row = {"line": line, "scheme": scheme, "receivers": receivers, "rounds": measured, **summary(measured)}
        bare = rounds.get((scheme, receivers, "bare"), [])
        if line in ("committed", "claimed"):  # round by round: the machine may change between them
            row["share_of_bare"] = statistics.median(b["cpu_us"] / m["cpu_us"] for b, m in zip(bare, measured))
        rows.append(row)
    return rows


def latencies(bench, options):
    """The time from COMMIT to arrival at a receiver that notes the time, every round's figures."""
    found = {}
    for _ in range(options.rounds):
        port = free_port()
        bench.seed(1, "http", port)
        for whose, name in (("own", "idle, by this process"), ("other", "idle, by another process")):
            found.setdefault(name, []).append(bench.program("bench_delivery", "idle", bench.targets, 100, port, whose))
        for rate in (1_000, 4_000):
            say(f"latency at {rate} a second")
            port = free_port()
            bench.seed(100, "http", port)
            result = bench.program("bench_delivery", "load", bench.targets, rate * 3, port, rate)
            found.setdefault(f"{rate:,} a second, 100 receivers", []).append(result)
    return [{"what": name, "rounds": rounds,
             **summary([{key: r[key] for key in ("p50_ms", "p99_ms", "max_ms")} for r in rounds])}
            for name, rounds in found.items()]


def show(columns, rows):
    widths = [max(len(str(r[i])) for r in [columns] + rows) for i in range(len(columns))]
    for row in [columns] + rows:
        print("  " + "  ".join(str(v).ljust(w) if i == 0 else str(v).rjust(w)
                               for i, (v, w) in enumerate(zip(row, widths))))


# The share of a bare sender's rate for the same CPU.
CLAIMED_SHARE = 0.6
# COMMIT to arrival where nothing else is sent.
IDLE_MS = 5


def targets(rows, arrivals):
    """What is promised of deliveries that are claimed, over HTTP: a bare sender over TLS keeps no connections as ours does."""
    held = Targets()
    for row in rows:
        if row["line"] == "claimed" and row["scheme"] == "http":
            held.figure(f"claimed, sent, settled, {row['receivers']:,} receivers, of a bare sender's CPU",
                        row["share_of_bare"], (">=", CLAIMED_SHARE), "x")
    for arrival in arrivals:
        if arrival["what"].startswith("idle"):
            held.figure(f"COMMIT to arrival, {arrival['what']}", arrival["p50_ms"]["median"], ("<=", IDLE_MS), "ms")
    return held


def report(rows, arrivals, held):
    lines = []
    for row in rows:
        rate = row["per_second"]
        lines.append([LINES[row["line"]], row["scheme"], f"{row['receivers']:,}", f"{rate['median']:,.0f}",
                      f"{rate['min']:,.0f} to {rate['max']:,.0f}",
                      *(f"{row[key]['median']:.1f}" for key in ("postgres_us", "user_us", "kernel_us", "cpu_us")),
                      f"{row['wal_bytes']['median']:,.0f}" if row["line"] != "bare" else "",
                      f"{row['share_of_bare']:.0%}" if "share_of_bare" in row else ""])
    show(["", "", "receivers", "a second", "spread", "PostgreSQL us", "user us", "kernel us", "CPU us", "WAL B",
          "of bare"], lines)
    print("\n\"of bare\": the bare sender's CPU over ours, nginx's not counted: the rate at the same CPU budget.\n")
    show(["COMMIT to arrival, ms", "p50", "p99", "spread of p50"],
         [[a["what"], f"{a['p50_ms']['median']:.2f}", f"{a['p99_ms']['median']:.2f}",
           f"{a['p50_ms']['min']:.2f} to {a['p50_ms']['max']:.2f}"] for a in arrivals])
    held.print("Targets")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=Path)
    parser.add_argument("--count", default=50_000, type=int, help="deliveries in a round")
    parser.add_argument("--receivers", default="1,100,10000")
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--json", type=Path, help="write the figures there")
    add_server_option(parser)
    options = parser.parse_args()
    options.server = chosen_server(options)
    directory = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    bench = Bench(options, directory)
    result = {"at": time.strftime("%Y-%m-%d"), "machine": f"{os.cpu_count()} cores, {platform.platform()}",
              "load_before": os.getloadavg()[0], "server": options.server,
              "settings": bench.postgres.settings, "count": options.count}
    try:
        result["throughput"] = throughput(bench, options)
        result["latency"] = latencies(bench, options)
        held = targets(result["throughput"], result["latency"])
        result["targets"] = held.lines
    finally:
        bench.close()
        shutil.rmtree(directory, ignore_errors=True)
        if options.json:
            options.json.write_text(json.dumps(result, indent=1) + "\n")
    report(result["throughput"], result["latency"], held)


if __name__ == "__main__":
    main()
