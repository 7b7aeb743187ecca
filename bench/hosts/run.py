#!/usr/bin/python3
"""What a request costs the outgoing client where many are under way to one host, from few to 4,096 at once, and beside
it a bare client of one multi handle of curl.

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
from services import Nginx  # noqa: E402

IN_FLIGHT = [32, 128, 1024, 4096]
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
    rounds = {(who, n): [] for who in ("vedette", "bare") for n in IN_FLIGHT}
    with Nginx() as host:
        for _ in range(options.rounds):
            for n in IN_FLIGHT:
                count = str(options.count)
                rounds["vedette", n].append(measured([bench / "hosts/bench_one_host", host.url, count, str(n)]))
                rounds["bare", n].append(measured([bench / "delivery/bench_bare_sender", host.url, "1", count, str(n), "",
                                                   "/dev/null"]))
    figures = {f"{who} {n}": medians(r) for (who, n), r in rounds.items()}
    print("| in flight | vedette /s | us CPU | bare client /s | us CPU |\n|---|---|---|---|---|")
    for n in IN_FLIGHT:
        ours, bare = figures[f"vedette {n}"], figures[f"bare {n}"]
        print(f"| {n} | {ours['per_s']:.0f} | {ours['cpu_us']:.1f} | {bare['per_s']:.0f} | {bare['cpu_us']:.1f} |")
    few = figures[f"vedette {IN_FLIGHT[0]}"]
    print("\n| target | wanted | measured | met |\n|---|---|---|---|")
    for n in IN_FLIGHT[1:]:
        many = figures[f"vedette {n}"]
        rate, cpu = many["per_s"] / few["per_s"], many["cpu_us"] / few["cpu_us"]
        print(f"| rate at {n}, times that at 32 | {RATE_TARGET} | {rate:.2f} | {'yes' if rate >= RATE_TARGET else 'no'} |")
        print(f"| CPU at {n}, times that at 32 | {CPU_TARGET} | {cpu:.2f} | {'yes' if cpu <= CPU_TARGET else 'no'} |")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
