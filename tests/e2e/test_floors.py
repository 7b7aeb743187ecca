"""Keeps the shape of the source tree: includes only go down, each library stays in its folder, files
and functions keep their size, nothing is left to be done."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The floors (docs/architecture.md). A folder may include itself and those of lower floors.
FLOORS = [
    {"app"},
    {"api", "admin", "scheduler", "worker", "delivery"},
    {"store", "net"},
    {"metrics"},
    {"config"},
    {"domain"},
    {"base"},
]
FLOOR_OF = {folder: level for level, floor in enumerate(FLOORS) for folder in floor}
# Part of a higher floor, usable by a lower one: durations are read by the configuration too.
EXEMPT = {("config", "domain/duration.h")}

# Which folders, or files, may include a library's headers.
LIBRARIES = {
    r"pqxx/|libpq-fe\.h": ["store/"],
    r"curl/": ["net/"],
    r"boost/": ["net/"],
    r"ares\.h": ["net/"],
    r"uv\.h": ["net/", "base/event_loop."],
    r"prometheus/": ["metrics/"],
    r"libxml/": ["worker/probes/"],
    r"re2/": ["worker/probes/"],
    r"toml\+\+": ["config/"],
    r"CLI/": ["app/"],
    r"openssl/": ["base/crypto."],
    r"spdlog/": ["base/log."],
}

LINES_MAX = 600
# Generated, or somebody else's.
SKIPPED = {"build", "var", ".git", ".cache", "__pycache__", ".pytest_cache"}


def files(*suffixes, under=ROOT):
    return sorted(
        path
        for path in under.rglob("*")
        if path.suffix in suffixes
        and path.is_file()
        and not SKIPPED.intersection(path.relative_to(ROOT).parts)
    )


SOURCES = [path for path in files(".h", ".cc") if path.relative_to(ROOT).parts[0] in FLOOR_OF]
TESTS = files(".h", ".cc", under=ROOT / "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def name(path):
    return str(path.relative_to(ROOT))


def test_there_is_something_to_look_at():
    folders = {path.relative_to(ROOT).parts[0] for path in SOURCES}
    assert folders == set(FLOOR_OF), "a folder of the floors has no sources"


def test_an_include_only_goes_down():
    wrong = []
    for path in SOURCES:
        folder = path.relative_to(ROOT).parts[0]
        for kind, target in INCLUDE.findall(path.read_text()):
            top = target.split("/")[0]
            if kind != '"' or top == folder or (folder, target) in EXEMPT:
                continue
            if "/" not in target:
                if not target.endswith(".inc"):
                    wrong.append(f"{name(path)}: \"{target}\" does not start at the root of the tree")
            elif top not in FLOOR_OF:
                wrong.append(f"{name(path)}: {target} is no folder of the floors")
            elif FLOOR_OF[top] <= FLOOR_OF[folder]:
                wrong.append(f"{name(path)} includes {target}, which is not below it")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_stays_in_its_folder(library):
    header = re.compile(library)
    wrong = [
        f"{name(path)} includes {target}"
        for path in SOURCES
        for _, target in INCLUDE.findall(path.read_text())
        if header.match(target) and not name(path).startswith(tuple(LIBRARIES[library]))
    ]
    assert not wrong, "\n".join(wrong)


def test_headers_are_included_once():
    assert [name(p) for p in SOURCES + TESTS if p.suffix == ".h" and "#pragma once" not in p.read_text()] == []


def test_files_have_one_subject():
    long = {name(p): n for p in SOURCES + TESTS if (n := len(p.read_text().splitlines())) > LINES_MAX}
    assert not long, f"more than {LINES_MAX} lines: {long}"


def test_nothing_is_left_to_be_done():
    mark = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    everything = files(".h", ".cc", ".py", ".sql", ".md", ".txt", ".toml", ".cmake", ".sh", ".js", ".html", ".css")
    left = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in everything
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if mark.search(line)
    ]
    assert not left, "\n".join(left)


def test_queries_are_named():
    unnamed = [
        name(path)
        for path in files(".sql", under=ROOT / "store" / "queries")
        if not path.read_text().lstrip().startswith("--") or "-- name:" not in path.read_text()
    ]
    assert not unnamed, unnamed


def test_shell_scripts_parse():
    for script in ["quickstart", "test", ".ci/run", "scripts/common.sh", "scripts/format"]:
        done = subprocess.run(["bash", "-n", ROOT / script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
