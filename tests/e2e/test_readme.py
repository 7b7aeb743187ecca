"""README.md: its examples run as they stand beside a running demo, and what it says of the tree is what the tree is. The two
pages of the internet that it watches are pages of the test."""

import json
import os
import re
import subprocess

import pytest

from conftest import ROOT, call, clean_environment, wait_until
from test_demo import directory, start, stop  # noqa: F401
from test_floors import FLOOR_OF

TEXT = (ROOT / "README.md").read_text()


def block(name):
    """The shell block whose fence says `name`."""
    found = re.findall(rf"^```sh {name}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"README.md has {len(found)} blocks {name}"
    return found[0]


def answers(text):
    """The JSON objects and arrays that an output has, in order."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while (begin := re.compile(r"[{\[]").search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, begin.start())
            found.append(value)
        except json.JSONDecodeError:
            at = begin.end()
    return found


class Reader:
    """Somebody who copies the examples into a shell, one after the other."""

    def __init__(self, binary, directory, nginx, announced):
        self.directory, self.announced = directory, announced
        self.replaced = {"build/release/vedette": str(binary.resolve()),
                         "https://www.postgresql.org/": f"{nginx.url}/one.html", "https://nginx.org/": f"{nginx.url}/two.html"}
        nginx.write("one.html", "<title>First</title><h2>Its heading</h2>")
        nginx.write("two.html", "<title>Second</title><h2>Another heading</h2>")

    def run(self, name):
        text = block("keys") + block(name)
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.directory, capture_output=True, text=True,
                              timeout=120, env=clean_environment({"VEDETTE_NET_ALLOW": "127.0.0.0/8"}))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def get(self, path):
        answer = call("GET", self.announced["api"] + path, headers={"x-api-key": self.announced["api_key"]})
        assert answer.status == 200, answer
        return answer.json


@pytest.fixture
def reader(binary, directory, nginx):  # noqa: F811
    """Beside a demo that has told its first chapter, and stays up."""
    process, announced = start(binary, directory, "--only", "monitor")
    yield Reader(binary, directory.parent, nginx, announced)
    out = stop(process)
    assert process.returncode == 0, out


def test_every_example_runs_as_it_stands(reader):
    out = reader.run("monitors")
    assert "First" in out, out
    triggered, rows, _ = answers(out)[-3:]
    assert "error" not in triggered and len(rows["rows"]) == 2, out
    mine = [m["id"] for m in reader.get("/monitors")["monitors"] if m["name"] == "Releases"]
    assert len(mine) == 1, mine

    def titles():
        seen = reader.get(f"/monitors/{mine[0]}/rows")["rows"]
        return sorted(row["current"].get("title", {}).get("value") or "" for row in seen) == ["First", "Second"]

    wait_until("both pages to be seen", titles)

    (found,) = answers(reader.run("email"))
    assert found["email"][0] == ["ines.okafor@aurora-robotics.example", "OK", "COMPANY"], found
    (person,) = answers(reader.run("people"))
    assert person["name"] == "Ines Okafor", person
    assert reader.run("workflows").split() == ["domain", "aurora-robotics.example", "cinder-analytics.example"]
    counted = answers(reader.run("search"))[-1]
    assert [(v["value"], v["count"]) for v in counted["values"]] == [("robotics", 2), ("food", 1)], counted


def test_every_part_of_the_table_has_its_example():
    rows = re.findall(r"^\| \*\*(\w+)\*\* \|.*?\]\(#([\w-]+)\)", TEXT, re.MULTILINE)
    assert [name for name, _ in rows] == ["Monitors", "Email", "People", "Workflows", "Search"]
    for name, anchor in rows:
        section = re.search(rf"^### {anchor.replace('-', ' ')}\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL | re.IGNORECASE)
        assert section and f"```sh {name.lower()}\n" in section[1], name


def test_what_it_says_of_the_tree_is_so():
    listed = TEXT[TEXT.index("## Where things are"):]
    for path in re.findall(r"`([\w./-]+/)`", listed):
        assert any((ROOT / base / path).is_dir() for base in ("", "tests", "app", "worker", "store")), path
    paths = {path.rstrip("/") for path in re.findall(r"`([\w.-]+(?:/[\w.-]*)*)`", listed)}
    named = {path.split("/")[0] for path in paths}
    folders = {entry.name for entry in os.scandir(ROOT)
               if entry.is_dir() and not entry.name.startswith((".", "__")) and entry.name not in {"build", "var"}}
    assert set(FLOOR_OF) <= paths | named and folders - named <= {"cmake"}, folders - named


def test_what_it_counts_and_lists_is_so():
    story = (ROOT / "app/demo/demo_story.cc").read_text()
    chapters = ["monitor", *re.findall(r'\{"(\w+)", "\w*", &DemoStory::', story)]
    assert re.findall(r"`(\w+)`", TEXT[TEXT.index("`vedette demo --only"):TEXT.index("## What it does")]) == chapters
    guarantees = {int(n) for n in re.findall(r"\bG(\d+)\b", (ROOT / "docs/guarantees.md").read_text())}
    assert f"(G1 to G{max(guarantees)})" in TEXT
    described = TEXT[TEXT.index("A field is described by"):TEXT.index("Your own research service")]
    kinds = set(re.findall(r"^\| `(\w+)[:`]", (ROOT / "docs/probes.md").read_text(), re.MULTILINE))
    kinds &= {"css", "xpath", "json", "jsonld", "regex", "meta", "text"}
    assert set(re.findall(r"`(\w+)[:`]", described)) == kinds
    for command in re.findall(r"^vedette ctl ([\w-]+)", TEXT, re.MULTILINE):
        assert any(f'{{"{command}"' in file.read_text() for file in (ROOT / "app/ctl").glob("*.cc")), command
