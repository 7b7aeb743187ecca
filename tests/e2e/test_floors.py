"""Keeps the shape of the source tree: includes only go down, each library stays in its folder, files
and functions keep their size, nothing is left to be done, and words are plain."""

import contextlib
import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The floors (docs/architecture.md). A folder may include itself and those of lower floors.
FLOORS = [
    {"app"},
    {"api/tenant", "api/operator", "scheduler", "worker", "delivery"},
    {"api/kit", "lease", "html"},
    {"store", "net"},
    {"metrics"},
    {"config"},
    {"domain"},
    {"base"},
]
FLOOR_OF = {folder: level for level, floor in enumerate(FLOORS) for folder in floor}


def room_of(path):
    """The folder of the floors that a path relative to the root lies in, if there is one."""
    parts = Path(path).parts
    return next((room for room in ("/".join(parts[:2]), parts[0]) if room in FLOOR_OF), None)


# Which folders, or files, may include a library's headers.
LIBRARIES = {
    r"pqxx/|libpq-fe\.h": ["store/"],
    r"curl/": ["net/"],
    r"boost/": ["net/"],
    r"ares\.h": ["net/"],
    r"uv\.h": ["net/", "base/event_loop."],
    r"prometheus/": ["metrics/"],
    r"libxml/": ["html/"],
    r"re2/": ["html/", "domain/monitor/change_rules."],
    r"toml\+\+": ["config/"],
    r"CLI/": ["app/"],
    r"openssl/": ["base/crypto.", "base/key_pair.", "net/smtp/connection.",
                 "tests/support/jose."],
    r"spdlog/": ["base/log."],
    r"idn2\.h": ["domain/email/address."],
    r"date/": ["domain/monitor/time_zone."],
    r"phonenumbers/": ["domain/workflow/blocks/verify_phone."],
}

# Inside a floor: which folders of it a folder may include, besides itself and the floor's root. One
# that is not named may include no other.
INNER = {
    "domain": {
        "monitor": {"text"},
        "job": {"text", "monitor"},
        "money": {"text", "monitor", "job"},
        "channel": {"text", "monitor", "job", "money", "email"},
        "auth": {"text"},
        "search": {"text"},
        "email": {"text", "money"},
        "investigation": {"text", "email"},
        "people": {"text", "email", "money", "investigation"},
        "workflow": {"text", "monitor", "job", "money", "email", "people"},
    },
    "store": {
        # A trigger opens a tick and a stop accounts for the slots that came due, as the schedule does.
        "monitors": {"checks"},
        # A block of a run makes a monitor of its rows.
        "jobs": {"monitors"},
        # A move seals an organisation's secrets again at the new cell.
        "move": {"accounts"},
        # An erasure forgets what pages said of the person.
        "email": {"monitors"},
    },
    "worker": {
        "checks": {"probes"},
        "jobs": {"blocks", "providers", "probes"},
        "blocks": {"providers", "probes"},
        "providers": {"probes", "services"},
        # Calls of services, which probes and providers share.
        "probes": {"services"},
        "rendering": set(),
    },
}

LINES_MAX = 900
FUNCTION_LINES_MAX = 70
BOOLEANS_MAX = 2
# Structs that say what a row, a body or a question says, or what was seen, in which no boolean depends on another.
VALUES = {"AddressFacts", "Groups", "LookupRequest", "MonitorSpec", "TestingConfig", "UsageGroups"}
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


SOURCES = [path for path in files(".h", ".cc") if room_of(path.relative_to(ROOT))]
TESTS = files(".h", ".cc", under=ROOT / "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def name(path):
    return str(path.relative_to(ROOT))


def test_there_is_something_to_look_at():
    folders = {room_of(path.relative_to(ROOT)) for path in SOURCES}
    assert folders == set(FLOOR_OF), "a folder of the floors has no sources"


def test_an_include_only_goes_down():
    wrong = []
    for path in SOURCES:
        folder = room_of(path.relative_to(ROOT))
        for kind, target in INCLUDE.findall(path.read_text()):
            top = room_of(target)
            if kind != '"' or top == folder:
                continue
            if "/" not in target:
                if not target.endswith(".inc"):
                    wrong.append(f"{name(path)}: \"{target}\" does not start at the root of the tree")
            elif top is None:
                wrong.append(f"{name(path)}: {target} is no folder of the floors")
            elif FLOOR_OF[top] <= FLOOR_OF[folder]:
                wrong.append(f"{name(path)} includes {target}, which is not below it")
    assert not wrong, "\n".join(wrong)


def test_inside_a_floor_an_include_keeps_to_its_folder():
    wrong = []
    for path in SOURCES:
        floor, *inner = path.relative_to(ROOT).parts[:-1]
        if floor not in INNER:
            continue
        # The root of a floor is what its folders share; it includes none of them.
        allowed = {inner[0], *INNER[floor].get(inner[0], set())} if inner else set()
        for kind, target in INCLUDE.findall(path.read_text()):
            parts = target.split("/")
            if kind == '"' and parts[0] == floor and len(parts) > 2 and parts[1] not in allowed:
                wrong.append(f"{name(path)} includes {target}")
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


@functools.lru_cache(None)
def included_by_sources():
    """What each source, tests included, includes, by way of others too."""
    includes = {name(path): [target for _, target in INCLUDE.findall(path.read_text())] for path in SOURCES + TESTS}

    @functools.lru_cache(None)
    def reach(file):
        found = set()
        for target in includes.get(file, ()):
            found |= {target} | reach(target)
        return found

    return {file: reach(file) for file in includes if file.endswith(".cc")}


def including(header):
    return sorted(file for file, headers in included_by_sources().items() if header in headers)


# What a build costs is what its sources include (docs/decisions/0050-light-to-build.md). A header that only passes JSON on
# includes base/json_text.h.
def test_what_is_dear_to_include_is_included_no_more_than_today():
    sources, most = including("nlohmann/json.hpp"), 450
    assert len(sources) > most / 2, "is this still what is included?"
    assert len(sources) <= most, (f"{len(sources)} sources include nlohmann/json.hpp, and {most} did: include it where its names "
                                  "are used, and nothing but base/json_text.h in headers that pass it on")


# A source that reads parts of the configuration includes config/parts.h and theirs, and a header that only refers to some
# config/config_fwd.h.
SOURCES_OF_A_KEY_MAX = 60  # tests included
KEY_TABLE = "config/keys.cc"


@pytest.mark.parametrize("part", sorted(path.name for path in (ROOT / "config").glob("*_config.h")))
def test_a_new_key_compiles_few_sources_again(part):
    again = {*including(f"config/{part}"), KEY_TABLE}
    assert len(again) > 2, f"config/{part}: is this still a part that is read?"
    assert len(again) <= SOURCES_OF_A_KEY_MAX, (
        f"{len(again)} sources include config/{part}, and {SOURCES_OF_A_KEY_MAX} may: a header that only refers to a part "
        "includes config/config_fwd.h, a source that reads some config/parts.h and theirs, and a part that many read is split")


# Values that stand beside the parts. This list only gets shorter: a new one belongs to a part.
IN_NO_PART = {"public_url", "admin_tokens", "admin_roles", "prices_mc", "render_mc", "find_email_prices",
              "reverse_email_price", "age_price", "cents_per_credit"}


def test_the_configuration_that_is_passed_on_includes_none_of_its_parts():
    text = (ROOT / "config" / "parts.h").read_text()
    assert not [target for _, target in INCLUDE.findall(text) if target.endswith("_config.h")]
    parts = set(re.findall(r"^  (\w+Config)& \w+;", text, re.MULTILINE))
    others = set(re.findall(r"^  (?!\w+Config&)[^/()\n]+& (\w+);", text, re.MULTILINE)) - {"probes"}
    assert others == IN_NO_PART, f"not in a part: {others - IN_NO_PART}; take off the list: {IN_NO_PART - others}"
    written = {part for path in (ROOT / "config").glob("*_config.h")
               for part in re.findall(r"^struct (\w+Config) \{", path.read_text(), re.MULTILINE)}
    assert parts and parts <= written, f"a part without a header of its own: {parts - written}"


# A value of a part, as in `config.limits.name_chars_max = 3`: that a Config is const does not make its parts so.
WRITTEN_PART = re.compile(r"\bconfig_?(?:\(\))?(?:\.|->)\w+\.\w+(?:\[[^\]]*\])?\s*(?:[-+*/|&]?=(?!=)|\+\+|--|"
                          r"\.(?:push_back|emplace|emplace_back|insert|erase|clear|assign|append)\()")


def test_only_the_configuration_itself_writes_to_its_parts():
    assert WRITTEN_PART.search("core_.config.limits.name_chars_max = 3;")
    assert not WRITTEN_PART.search("if (config.limits.name_chars_max == 3) return;")
    wrong = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in SOURCES
        if not name(path).startswith("config/")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if WRITTEN_PART.search(line) and not re.search(r"\bconst auto\b|^\s*(?:const )?[\w:<>]+[&*]? \w+ = ", line)
    ]
    assert not wrong, "\n".join(wrong)


def test_clang_tidy_looks_at_every_folder():
    folders = {room.split("/")[0] for room in FLOOR_OF}
    seen = re.search(r"HeaderFilterRegex: '\((.*?)\)/", (ROOT / ".clang-tidy").read_text())[1]
    listed = re.search(r'FOLDERS = "(.*?)"', (ROOT / "scripts" / "tidy").read_text())[1]
    assert set(seen.split("|")) == folders and set(listed.split()) == folders


def test_files_have_one_subject():
    looked_at = SOURCES + TESTS + files(".py", ".js", ".mjs") + files(".sql", under=ROOT / "store" / "queries")
    long = {name(p): n for p in looked_at if (n := len(p.read_text().splitlines())) > LINES_MAX}
    assert not long, f"more than {LINES_MAX} lines: {long}"


LITERAL = re.compile(
    r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""",
    re.DOTALL | re.MULTILINE,
)


def blocks(text):
    """What stands in braces, as (kind, what stands before it, its text, first line, last line). Kinds:
    scope (a namespace), class, function, inner (of a function, or a list of values)."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)
    text = LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    stack = []
    begin = 0
    for at, character in enumerate(text):
        if character == ";":
            begin = at + 1
        elif character == "{":
            head = text[begin:at]
            first = text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
            head = head.strip()
            if stack and stack[-1][0] in {"function", "inner"}:
                kind = "inner"
            elif re.match(r"(template\s*<.*>\s*)?(class|struct|union)\b", head, re.DOTALL):
                kind = "class"
            elif re.match(r"(inline\s+)?namespace\b|extern\b", head):
                kind = "scope"
            else:
                kind = "function" if "(" in head and not head.startswith("enum") else "inner"
            stack.append((kind, head, at + 1, first))
            begin = at + 1
        elif character == "}" and stack:
            kind, head, start, first = stack.pop()
            yield kind, head, text[start:at], first, text.count("\n", 0, at) + 1
            begin = at + 1


def test_functions_fit_a_screen():
    long = [
        f"{name(path)}:{first}: {last - first + 1} lines: {' '.join(head.split())[:60]}"
        for path in SOURCES + TESTS
        for kind, head, _, first, last in blocks(path.read_text())
        if kind == "function" and last - first + 1 > FUNCTION_LINES_MAX
    ]
    assert not long, f"more than {FUNCTION_LINES_MAX} lines:\n" + "\n".join(long)


BOOLEAN = re.compile(
    r"^\s*(?:mutable\s+|const\s+)*(?:bool|std::atomic<bool>|std::atomic_bool)\s+\w+\s*(?:=[^;]*|\{[^;]*\})?;",
    re.MULTILINE,
)


def own(body):
    """The class's own text, without what stands in braces."""
    depth = 0
    text = []
    for character in body:
        depth += character == "{"
        if depth == 0:
            text.append(character)
        depth -= character == "}"
    return "".join(text)


def test_states_are_not_written_in_booleans():
    many = {}
    for path in SOURCES:
        for kind, head, body, first, _ in blocks(path.read_text()):
            if kind == "class" and len(BOOLEAN.findall(own(body))) > BOOLEANS_MAX:
                who = re.search(r"(?:class|struct)\s+(\w+)", head).group(1)
                many[who] = f"{name(path)}:{first}"
    new = {who: at for who, at in many.items() if who not in VALUES}
    assert not new, f"more than {BOOLEANS_MAX} booleans, which make an enum of states: {new}"
    assert VALUES <= set(many), f"mended, take them off the list: {VALUES - set(many)}"


STATES = re.compile(r"^[ \t]+enum class \w*(?:State|Phase|Stage)\b", re.MULTILINE)
ARROW = re.compile(r"--+>|->|──")


def test_state_machines_are_drawn():
    """In the header that owns them: in a comment, with arrows."""
    undrawn = []
    for path in SOURCES:
        if not STATES.search(path.read_text()):
            continue
        header = path.with_suffix(".h")
        texts = [one.read_text() for one in {path, header} if one.exists()]
        if not any(ARROW.search(line.strip()) for text in texts for line in text.splitlines()
                   if line.strip().startswith("//")):
            undrawn.append(name(path))
    assert not undrawn, undrawn


def test_drawings_are_whole():
    """An arrow at a line's end has lost its target to the next line: a drawing is not wrapped (.clang-format, CommentPragmas)."""
    broken = [f"{name(path)}:{number}: {line}" for path in SOURCES for number, line in enumerate(path.read_text().splitlines(), 1)
              if re.match(r"\s*//.*(-->|──▶)$", line)]
    assert not broken, "\n".join(broken)


def test_what_leased_work_knows_stands_nowhere_else():
    """Whether an object still lives when a callback comes, and how a part drains: lease::Live, lease::Step, lease::Drain."""
    wrong = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in SOURCES
        if not name(path).startswith("lease/")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\b(?:alive|drained)_\b", line)
    ]
    assert not wrong, "\n".join(wrong)


# What a kind of leased work says itself: docs/decisions/0053-one-engine-for-leased-work.md.
TOY_LINES_MAX = 300


def test_a_small_kind_of_leased_work_is_small():
    toy = (ROOT / "tests" / "unit" / "lease" / "toy_work.h").read_text()
    for part in ["Claimer", "Recorder", "Suspects", "Pipeline"]:
        assert re.search(rf"\b{part}<Toy", toy), f"the toy kind does without {part}"
    assert len(toy.splitlines()) < TOY_LINES_MAX


@pytest.mark.parametrize("folder", ["lease", "html", "api/kit"])
def test_each_part_that_siblings_share_is_tested_by_itself(folder):
    included = {target for path in files(".h", ".cc", under=ROOT / "tests" / "unit" / folder)
                for _, target in INCLUDE.findall(path.read_text())}
    headers = {name(path) for path in SOURCES if name(path).startswith(f"{folder}/") and path.suffix == ".h"}
    assert headers and headers <= included, f"no test in tests/unit/{folder}: {headers - included}"


# A function of a source's own, outside of classes: its name and its body.
LOCAL = re.compile(r"^[A-Za-z][^\n;=(]*?\b([A-Z]\w+)\([^;{}]*\)\s*(?:const\s*)?\{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# A shorter body says what it does as well as a name would.
TWICE_CHARACTERS_MAX = 64


def test_what_a_source_keeps_for_itself_stands_once():
    places = {}
    for path in SOURCES:
        for own_part in ANONYMOUS.findall(path.read_text()):
            for function, body in LOCAL.findall(own_part):
                text = " ".join(body.split())
                if len(text) > TWICE_CHARACTERS_MAX:
                    places.setdefault(text, []).append(f"{function} in {name(path)}")
    twice = [", ".join(where) for where in places.values() if len(where) > 1]
    assert not twice, "the same function, which should stand once below both:\n" + "\n".join(twice)


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


def test_only_internal_headers_of_store_know_the_database_library():
    wrong = [
        name(path)
        for path in SOURCES + TESTS
        if path.suffix == ".h" and re.search(r"include <(pqxx/|libpq-fe)", path.read_text())
        and not re.fullmatch(r"store/(\w+/)?(sql|\w+_sql|\w+_impl)\.h", name(path))
    ]
    assert not wrong, wrong


def test_rows_are_read_by_their_reader():
    numbered = re.compile(r"\brows?\b[^;\n]*\)?\[\d+\]\[|\brow\[|\.as<")
    wrong = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in SOURCES
        if name(path).startswith("store/") and path.name != "sql.h" and path.name != "sql.cc"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if numbered.search(line) and "columns[i]" not in line
    ]
    assert not wrong, "\n".join(wrong)


# A number of an enum that a statement compares or sets: the loader of statements has a word for it.
ENUMS = "state|status|event_type|trigger|outcome|kind|lane|subject_type|tier"
ENUM_NUMBER = re.compile(rf"\b(?:\w+_)?(?:{ENUMS})\s*(?:=|<>|<|>|in)\s*\(?\d|\b\d+ as (?:{ENUMS})\b")


def test_a_number_of_an_enum_stands_in_the_domain():
    wrong = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in files(".sql", under=ROOT / "store" / "queries")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ENUM_NUMBER.search(line.split("--")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_queries_are_named():
    unnamed = [
        name(path)
        for path in files(".sql", under=ROOT / "store" / "queries")
        if not path.read_text().lstrip().startswith("--") or "-- name:" not in path.read_text()
    ]
    assert not unnamed, unnamed


# What a statement is about is the first word of its name, or the first two of these; what is old goes in maintenance.sql, and
# what tests alone put in the place of others stands in testing.sql.
TWO_WORDS = {"delivery_admin", "delivery_list", "org_user", "org_users", "team_spend"}
FORGETS = re.compile(r"_expire(?:_all)?$")


def test_statements_about_one_thing_stand_in_one_file():
    files_of = {}
    for path in files(".sql", under=ROOT / "store" / "queries"):
        for statement in re.findall(r"^-- name: (\w+)", path.read_text(), re.MULTILINE):
            if path.name == "testing.sql" or path.name == "maintenance.sql" and FORGETS.search(statement):
                continue
            words = statement.split("_")
            about = "_".join(words[:2]) if "_".join(words[:2]) in TWO_WORDS else words[0]
            files_of.setdefault(about, set()).add(path.name)
    apart = {about: names for about, names in files_of.items() if len(names) > 1}
    assert not apart, apart


SHELL = re.compile(rb"#!(?:/usr/bin/env |/bin/)(bash|sh)\n")


def shell_scripts():
    """Each script of the repository, and the shell that its first line names; those that others source are bash's."""
    for script in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        with contextlib.suppress(FileNotFoundError), open(ROOT / script, "rb") as file:
            if found := SHELL.match(file.readline()):
                yield script, found[1].decode()
            elif script.endswith(".sh"):
                yield script, "bash"


def test_shell_scripts_parse():
    scripts = dict(shell_scripts())
    assert {"quickstart", ".ci/run", "deploy/entrypoint", "scripts/common.sh"} <= scripts.keys()
    for script, shell in scripts.items():
        done = subprocess.run([shell, "-n", ROOT / script], capture_output=True, text=True)
        assert done.returncode == 0, f"{script}: {done.stderr}"


# Sources of which some may be compiled as one with the first (cmake/Unity.cmake).
TOGETHER = {
    "first": "namespace v {\nnamespace {\nint Twice(int n) { return 2 * n; }\nint once = 1;\nusing base::Json;\n}  // namespace\n}",
    "same_name": "namespace v {\nnamespace {\nstruct Twice {\n  int n;\n};\n}  // namespace\n}",
    "mentions": "namespace v {\nint Four() { return Twice(2); }\n}",
    "member": "namespace v {\nint Six(const Number& n) { return n.Twice(); }  // Twice\n}",
    "same_alias": "namespace v {\nnamespace {\nusing base::Json;\n}  // namespace\n}",
    "other_alias": "namespace v {\nnamespace {\nusing Json = std::string;\n}  // namespace\n}",
    "of_headers": "namespace v {\nint Eight() { return once + 7; }\n}",
    "macro": "#define TWO 2\n",
}


def test_local_names_of_sources_that_are_compiled_as_one_are_told_apart(tmp_path):
    for source, text in TOGETHER.items():
        (tmp_path / f"{source}.cc").write_text(text + "\n")

    def together(*sources):
        done = subprocess.run([ROOT / "scripts" / "unity_groups", "1000", tmp_path / "units", *(tmp_path / f"{s}.cc" for s in sources)],
                              capture_output=True, text=True, check=True)
        return {Path(line.split(" ", 1)[1]).stem for line in done.stdout.splitlines()}

    def unit():
        return [line for line in (tmp_path / "units" / "0.cc").read_text().splitlines() if "Twice" in line or "Json" in line]

    # What could be another's, `once` in lower case and an alias of another namespace's name, keeps its name.
    assert {s for s in TOGETHER if together("first", s) == {"first", s}} == {
        "same_name", "mentions", "member", "same_alias", "other_alias"}
    together("first", "mentions")
    assert unit() == ["#define Twice Twice_0", "#undef Twice"]
    together("first", "other_alias")
    assert unit() == ["#define Json Json_1", "#undef Json"]
    together("first", "member", "same_alias")
    assert unit() == []


# Words and turns that an international reader stumbles over, and what says the same plainly.
PLAIN = {
    r"reckon(?:s|ed|ing)?": "compute",
    r"anew": "again",
    r"whoever|whosoever": "name the one who does it",
    r"for want of": "without",
    r"in earnest": "in production, or: really",
    r"so long|so often": "this long, for as long as, how often",
    r"outlived by": "must outlive this object",
    r"(?:is|are) handed in outlives?|handed in outlives?": "must outlive this object",
    r"hand(?:s|ed) (?:it |them )?on": "pass to, give to",
    r"what is returned": "the result",
}


def test_words_are_plain():
    # A turn may stand across the end of a line.
    hard = {
        re.compile(rf"\b(?:{word})\b".replace(" ", r"\s+"), re.IGNORECASE): plain for word, plain in PLAIN.items()
    }
    # A migration that was released never changes, and neither does what a released version was said to do.
    looked_at = [
        path
        for path in files(".h", ".cc", ".sql", ".md", ".toml", ".yaml", ".js")
        if path.relative_to(ROOT).parts[0] != "tests"
        and path.name != "CHANGELOG.md"
        and path.parent.name != "migrations"
    ]
    assert looked_at
    found = []
    for path in looked_at:
        text = re.sub(r"\n[ \t]*(?://|--|#)", "\n ", path.read_text())  # without the marks of comments
        for word, plain in hard.items():
            for match in word.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name(path)}:{line}: {' '.join(match[0].split())} (better: {plain})")
    assert not found, "\n".join(found)
