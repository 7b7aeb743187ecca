"""The documents hang together: docs/README.md leads to every one of them, and every link between them leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


def name(path):
    return str(path.relative_to(ROOT))


def prose(path):
    """A document without its samples and what stands in `code`."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text()))


def anchors(path):
    """What the headings of a document are called in links, as GitHub does it."""
    found = []
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text()), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return set(found)


def links(path):
    """The relative links of a document, as (its text, the file, the anchor)."""
    for target in LINK.findall(prose(path)):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            yield target, (path.parent / file).resolve() if file else path, anchor


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(path):
    for target, file, anchor in links(path):
        assert file.exists(), target
        if anchor:
            assert file.suffix == ".md" and anchor in anchors(file), target


def test_the_index_leads_to_every_document():
    led_to = {file for _, file, _ in links(INDEX)}
    every = {path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.parent.name != "decisions"} - {INDEX}
    assert {name(path) for path in every - led_to} == set()
    assert (ROOT / "docs/decisions").resolve() in led_to, "decisions are found by their names"
    assert INDEX.resolve() in {file for _, file, _ in links(ROOT / "README.md")}


def test_what_tasks_say_of_alerts_is_so():
    rules = (ROOT / "helm/vedette/rules/vedette.yaml").read_text()
    for path in (ROOT / "docs/tasks").glob("*.md"):
        for alert in re.findall(r"\bVedette[A-Z]\w+", path.read_text()):
            assert f"alert: {alert}\n" in rules, (name(path), alert)
