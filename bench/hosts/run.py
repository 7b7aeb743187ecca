#!/usr/bin/python3
"""What a request costs the outgoing client where many are wanted of one host, from few to 4,096 at once: all of them
under way; as many under way as the host's answers say, as services are asked; and a bare client of one multi handle of curl.

    bench/hosts/run.py [--build build/release] [--count 60000] [--rounds 3] [--json FILE]

The host is an nginx of its own that answers at once. Figures are medians of the rounds; CPU is the client's alone.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
from figures import Targets, table  # noqa: E402
from services import Nginx  # noqa: E402

IN_FLIGHT = [32, 128, 1024, 4096]
WHO = {"followed": "the limit follows", "vedette": "all under way", "bare": "bare client, all under way"}
RATE_TARGET, CPU_TARGET = 0.8, 1.3  # of the figure at 32


def measured(command):
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{command}: {ran.stdout}{ran.stderr}")
    said = json.loads(ran.stdout)
    return {"per_s": said["count"] / said["seconds"],
            "cpu_us": (said["user_s"] + said["kernel_s"]) * 1e6 / said["count"]}


def medians(rounds):
    return {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--count", type=int, default=60000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="where to write all figures")
    options = parser.parse_args()
    bench = Path(options.build) / "bench"
    rounds = {(who, n): [] for who in WHO for n in IN_FLIGHT}
    with Nginx() as host:
        for _ in range(options.rounds):
            for n in IN_FLIGHT:
                count = str(options.count)
                ours = [bench / "hosts/bench_one_host", host.url, count, str(n)]
                rounds["followed", n].append(measured([*ours, "follow"]))
                rounds["vedette", n].append(measured(ours))
                rounds["bare", n].append(measured([bench / "delivery/bench_bare_sender", host.url, "1", count, str(n), "",
                                                   "/dev/null"]))
    figures = {f"{who} {n}": medians(r) for (who, n), r in rounds.items()}
    rows = [[f"{n:,} wanted"] + [f"{figures[f'{who} {n}'][key]:,.1f}" for who in WHO for key in ("per_s", "cpu_us")]
            for n in IN_FLIGHT]
    table("Requests to one host", ["", *(column for who in WHO.values() for column in (f"{who}, a second", "CPU us"))], rows)
    few = figures[f"followed {IN_FLIGHT[0]}"]
    targets = Targets()
    for n in IN_FLIGHT[1:]:
        many = figures[f"followed {n}"]
        targets.figure(f"one host, rate at {n:,} over {IN_FLIGHT[0]} wanted", many["per_s"] / few["per_s"],
                       (">=", RATE_TARGET), "x")
        targets.figure(f"one host, CPU of a request at {n:,} over {IN_FLIGHT[0]} wanted", many["cpu_us"] / few["cpu_us"],
                       ("<=", CPU_TARGET), "x")
    targets.print()
    figures["targets"] = targets.lines
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
