"""The table of what is promised names tests that exist, and says something of every guarantee."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "guarantees.md").read_text()


def exists(path, test):
    file = ROOT / path
    if not file.is_file():
        return False
    form = rf"^\s*def {test}\(" if file.suffix == ".py" else rf"^TEST(?:_F|_P)?\(\s*\w+,\s*{test}\)"
    return re.search(form, file.read_text(), re.MULTILINE) is not None


def test_every_named_test_exists():
    named = re.findall(r"`([\w/.]+)::(\w+)`", TABLE)
    assert len(named) > 100
    missing = [f"{path}::{test}" for path, test in named if not exists(path, test)]
    assert not missing, "\n".join(missing)


def test_every_guarantee_and_rule_has_a_test():
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith(("| rule", "| guarantee", "| resource"))]
    assert [row for row in rows if "::" not in row] == []
    assert {int(n) for n in re.findall(r"^\| G(\d+) ", TABLE, re.MULTILINE)} == set(range(1, 13))
