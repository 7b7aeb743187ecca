"""Keeps the words plain: a comment begins with its noun, cites what a reader can open, and says the word that everybody
uses. Names of types follow docs/words.md."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Files whose comments are read, by the mark of their comments.
MARKS = {".h": "//", ".cc": "//", ".js": "//", ".mjs": "//", ".sql": "--", ".py": "#", ".cmake": "#", ".txt": "#",
         ".toml": "#", ".yaml": "#"}
# The log of changes is history, and these lines have to name what they look for.
SKIPPED = ("CHANGELOG.md", "tests/e2e/test_words.py", "docs/words.md", "tests/fuzz/corpus/", "docs/decisions/")

LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def text_files():
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        path = ROOT / name
        if name.startswith(SKIPPED) or not path.is_file():
            continue
        mark = MARKS.get(path.suffix)
        if mark == "#" and path.suffix == ".txt" and path.name != "CMakeLists.txt":
            continue
        if mark is None and path.suffix == "" and path.read_bytes()[:2] == b"#!":
            mark = "#"
        if mark or path.suffix == ".md":
            yield name, mark, path.read_text(errors="replace").splitlines()


def comments(mark, lines):
    """Each line of a comment, as (number, text, whether a comment or a paragraph of one begins with it)."""
    behind_code = re.compile(rf"\s{re.escape(mark)}\s+(.*)$")
    goes_on = False
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if line.startswith(mark) and not line.startswith("#!"):
            text = line[len(mark):].strip()
            yield number, text, not goes_on
            goes_on = bool(text) and not text.startswith(("name: ", "fragment: "))
        elif mark == "#" and line.startswith('"""'):
            goes_on = False
            yield number, line[3:].strip(), True
        else:
            goes_on = False
            # A mark in a string begins no comment.
            if behind := behind_code.search(LITERAL.sub('""', line)):
                yield number, behind.group(1), True


COMMENTS = [(name, number, text, begins) for name, mark, lines in text_files() if mark
            for number, text, begins in comments(mark, lines)]
# What people read besides comments: documents, and the sentences in strings of the product.
SENTENCES = [(name, number, line) for name, mark, lines in text_files() if mark is None
             for number, line in enumerate(lines, 1)]
SENTENCES += [(name, number, text) for name, mark, lines in text_files()
              if mark == "//" and not name.startswith(("tests/", "bench/"))
              for number, line in enumerate(lines, 1) for text in LITERAL.findall(line) if " " in text]
TYPES = [(name, number, match.group(1)) for name, mark, lines in text_files() if name.endswith((".h", ".cc"))
         for number, line in enumerate(lines, 1)
         if (match := re.match(r"\s*(?:class|struct|enum class|using)\s+(\w+)(?=\s*(?:final|:|\{|=))", line))]

# An English reader parses such a beginning twice: "Of a job: its rows." is "The rows of a job."
GENITIVE = re.compile(r"(?:Of|Where|As|Who|Whom|From)\b")
# Documents that are not in the repository. Decisions are, by their numbers.
ELSEWHERE = re.compile(r"\b(?:design|interface|structured|house|brief|story)\b(?::| \d+\b|\.md\b)|\((?:jobs|aim|rule) \d")
# Sources that a comment or a document names, without the pattern of several.
SOURCE_FILE = re.compile(r"(?<![\w*])[\w-]+\.(?:h|cc)\b")
GENERATED = {"version.cc"}
# Our own words for what everybody knows by another (docs/words.md).
DIALECT = {
    "balances": r"\b[Pp]urses?\b|\b[Pp]ayers?\b",
    "the suppression list": r"\bnobody looks up\b",
    "connection pool, or shared state": r"\b[Dd]esks?\b",
    "quarantine": r"\b[Cc]ondemn\w*",
    "abandoned": r"\b[Dd]eaf\b",
    "give back": r"\bput back\b",
    "goes into the audit log only": r"\bis the audit's\b",
    "`done` may destroy it": r"\bWho hears of\b|\bmay let go of this\b",
    "validate, parse": r"\b[Jj]udg(?:e|es|ed|ing)\b",
}
# Ends of type names, which say nothing to who has not written them.
ENDINGS = {
    "a pool, a state": r"\w*(?:Desk|Office)",
    "balances": r"\w*(?:Purses?|Payer)",
    "dependencies, options, helpers": r"(?!UrlParts|JobsParts)\w*(?:Means|Terms|Kit|Parts)",
    "a batch, a cache, a plan": r"\w*(?:Round|Book)",
    "validated, parsed": r"Judge\w*",
}

def listed(found):
    return "\n".join(f"  {name}:{number}: {text}" for name, number, text in found)


def beginnings():
    return [(name, number, text) for name, number, text, begins in COMMENTS if begins and GENITIVE.match(text)]


def citations():
    return [(name, number, text) for name, number, text, _ in COMMENTS if ELSEWHERE.search(text)]


def dialect(word):
    pattern = re.compile(DIALECT[word])
    said = [(name, number, text) for name, number, text, _ in COMMENTS] + SENTENCES
    return [one for one in said if pattern.search(one[2])]


def type_names(word):
    return [one for one in TYPES if re.fullmatch(ENDINGS[word], one[2])]


def test_there_is_something_to_read():
    assert len(COMMENTS) > 5000 and len(SENTENCES) > 1000 and len(TYPES) > 1000


def test_a_comment_begins_with_its_noun():
    assert not (wrong := listed(beginnings())), f"say the noun first:\n{wrong}"


def test_a_comment_cites_what_is_in_the_repository():
    assert not (wrong := listed(citations())), f"cite docs/, or say it:\n{wrong}"


def test_sources_that_are_named_are_there():
    there = {Path(name).name for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()} | GENERATED
    said = [(name, number, text) for name, number, text, _ in COMMENTS if name.endswith((".h", ".cc", ".md"))]
    said += [one for one in SENTENCES if one[0].endswith(".md")]
    gone = [(name, number, text) for name, number, text in said if set(SOURCE_FILE.findall(text)) - there]
    assert not gone, f"no such file:\n{listed(gone)}"


@pytest.mark.parametrize("word", DIALECT)
def test_words_are_those_that_everybody_uses(word):
    assert not (wrong := listed(dialect(word))), f"say {word}:\n{wrong}"


@pytest.mark.parametrize("word", ENDINGS)
def test_types_are_named_by_words_that_everybody_uses(word):
    assert not (wrong := listed(type_names(word))), f"say {word}:\n{wrong}"


def test_each_word_lives_where_the_page_says():
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", (ROOT / "docs" / "words.md").read_text()))
    assert len(named) > 30 and not [place for place in named if not (ROOT / place).exists()]
