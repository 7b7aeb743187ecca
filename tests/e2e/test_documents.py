"""The documents hang together: docs/README.md leads to every one of them, and every link between them leads somewhere.
And they agree with the tables of the code: settings, series, routes and commands have the same names everywhere."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md"),
                    *(ROOT / "docs" / "examples").glob("*.md")])
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
    # Decisions and pictures are found by their names, and what the examples are by their README.
    every = {path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.parent.name not in ("decisions", "performance")
             and (path.name == "README.md" or "examples" not in path.parts)} - {INDEX}
    assert {name(path) for path in every - led_to} == set()
    assert {(ROOT / "docs" / folder).resolve() for folder in ("decisions", "performance")} <= led_to, "found by their names"
    assert INDEX.resolve() in {file for _, file, _ in links(ROOT / "README.md")}


# What a decision or a list of changes says is of its time.
NAMING = [path for path in DOCUMENTS if path.name != "CHANGELOG.md" and path.parent.name != "decisions"]
METRICS = ROOT / "docs" / "metrics.md"
# Files that name series, besides documents.
WATCHING = [path for path in (ROOT / "helm/vedette").rglob("*") if path.suffix in {".json", ".yaml", ".tpl"}]
# Names of the command line, of tests, and a beginning that stands for all that follow.
NO_SETTINGS = re.compile(r"VEDETTE_(ADMIN_URL|CELLS_FILE|ADMIN_TOKEN(_FILE)?|OLD_BINARY|TEST_\w+|STRESS_\w+|FUZZ\w*|\w+_)")


def test_every_alert_that_is_named_is_one():
    rules = (ROOT / "helm/vedette/rules/vedette.yaml").read_text()
    named = {(name(path), alert) for path in NAMING for alert in re.findall(r"\bVedette[A-Z]\w+", path.read_text())}
    assert len(named) > 30
    assert {(path, alert) for path, alert in named if f"alert: {alert}\n" not in rules} == set()


def settings(table, section=()):
    """Those of the default configuration, as (section, key)."""
    for name_, value in table.items():
        if isinstance(value, dict):
            yield from settings(value, (*section, name_))
        else:
            yield ".".join(section), name_


def sources(pattern):
    return "".join(path.read_text() for path in sorted(ROOT.glob(pattern)))


def test_every_setting_that_is_named_is_one():
    known = set(settings(tomllib.loads((ROOT / "config/config.default.toml").read_text())))
    tiers = {("probes.*", key) for section, key in known if section == "probes.default"}
    variables = {f"VEDETTE_{section}_{key}".replace(".", "_").upper() for section, key in known}
    # Sections of tiers, and of names that the operator gives.
    free = re.compile(r"VEDETTE_(PROBES_(MICRO|LOW|MEDIUM|HIGH)|PROVIDERS_(HTTP|LLM)|ADMIN_TOKENS|ADMIN_ROLES)_\w+")
    wrong = []
    for path in [*NAMING, *WATCHING, ROOT / "deploy/vedette.env", ROOT / "deploy/compose.yaml"]:
        text = path.read_text()
        wrong += [f"{name(path)}: [{section}] {key}" for section, key in re.findall(r"`\[([a-z_.*]+)\] ([a-z_]+)`", text)
                  if (section, key) not in known | tiers]
        wrong += [f"{name(path)}: {variable}" for variable in re.findall(r"\bVEDETTE_[A-Z0-9_]+", text)
                  if variable.removesuffix("_FILE") not in variables
                  and not free.fullmatch(variable) and not NO_SETTINGS.fullmatch(variable)]
    assert wrong == []


def turned():
    """The keys that operators turn: those of [testing] are the tests' own."""
    known = settings(tomllib.loads((ROOT / "config/config.default.toml").read_text()))
    return [(section, key) for section, key in known if section != "testing"]


def variable(section, key):
    return f"VEDETTE_{section}_{key}".replace(".", "_").upper()


def test_operators_turn_no_more_keys_than_they_can_know():
    assert 100 < len(turned()) <= 167, "what nobody turns is a constant beside what it limits"


def test_every_key_is_in_a_document_beside_its_section():
    texts = [path.read_text() for path in NAMING if "decisions" not in path.parts]

    def is_told(section, key):
        head = "[probes" if section == "probes.default" else f"[{section}]"
        word = re.compile(rf"(?<!\w){key}(?!\w)")
        return any(variable(section, key) in text or (head in text and word.search(text)) for text in texts)

    assert [key for key in turned() if not is_told(*key)] == []


def test_every_key_is_set_by_a_test_the_chart_or_the_deployment():
    """It is set as a variable, or in a file's section; a key of [probes.default] in that of a tier, too."""
    paths = [path for folder in ("tests", "bench", "helm", "deploy") for path in (ROOT / folder).rglob("*")
             if path.suffix in {".py", ".cc", ".h", ".toml", ".yaml", ".tpl", ".env", ""} and path.is_file()
             and "corpus" not in path.parts and "__pycache__" not in path.parts]
    text = "\n".join(path.read_text(errors="replace") for path in paths)
    variables = set(re.findall(r"\bVEDETTE_[A-Z0-9_]+", text))
    sections = {}
    for head, body in re.findall(r"\[([a-z_.]+)\]((?:(?!\[[a-z])[^;])*)", text):
        sections.setdefault(head, set()).update(re.findall(r"(?<!\w)([a-z][a-z0-9_]*) ?=", body))

    def is_set(section, key):
        tiers = [f"probes.{tier}" for tier in ("default", "micro", "low", "medium", "high", "xhigh")]
        heads = tiers if section == "probes.default" else [section]
        return any({variable(head, key), variable(head, key) + "_FILE"} & variables or key in sections.get(head, ()) for head in heads)

    assert [key for key in turned() if not is_set(*key)] == []


def test_every_series_is_known_and_every_series_is_shown():
    """In a document, on a dashboard or in an alert: a series that nobody was told of is watched by nobody."""
    series = set(re.findall(r'"(vedette_[a-z0-9_]+)"', sources("metrics/*.cc") + sources("metrics/*.h")))
    assert len(series) > 50
    named = {}
    for path in {*NAMING, *WATCHING} - {METRICS}:
        for word in re.findall(r"(?<![/\w])vedette_[a-z0-9_]+", path.read_text()):
            named.setdefault(re.sub(r"_(bucket|sum|count)$", "", word) if word not in series else word, path)
    channels = {"vedette_" + channel for channel in ("chunk", "job_chunk", "delivery", "due", "job")}  # of store/signals.h
    assert {word: name(path) for word, path in named.items() if word not in series | channels} == {}
    assert series - set(named) == set()


def test_every_series_stands_in_the_table_with_what_is_said_of_it():
    made = re.findall(r'\b(Counter|Gauge|Histogram)s\(\s*"(vedette_[a-z0-9_]+)",\s*((?:"[^"]*"\s*)+)\)',
                      sources("metrics/*.cc") + sources("metrics/*.h"))
    said = {series: (kind.lower(), "".join(re.findall(r'"([^"]*)"', words))) for kind, series, words in made}
    assert len(said) > 70
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| [^|]*\| (.*) \|$", METRICS.read_text(), re.MULTILINE)
    assert {series: (kind, words) for series, kind, words in rows} == said


def test_every_route_that_is_named_is_one():
    paths = dict(re.findall(r'\b(k\w+Path)(?:\[\])? ?= ?"([^"]+)"', sources("api/**/*.h")))
    routes = set()
    for file in ("api/tenant/routes.cc", "api/operator/routes.cc"):
        for method, path in re.findall(r'\{\s*(?:k\w+,\s*)?"(GET|POST|PUT|PATCH|DELETE)",\s*("[^"]+"|k\w+)', (ROOT / file).read_text()):
            routes.add((method, re.sub(r"\{\w+\}", "{}", paths.get(path, path.strip('"')))))
    assert len(routes) > 100
    wrong = [
        f"{name(document)}: {method} {path}"
        for document in NAMING
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`\s?]*)", document.read_text())
        if (method, re.sub(r"\{\w+\}", "{}", path)) not in routes
    ]
    assert wrong == []


def test_every_command_of_ctl_that_is_named_is_one():
    table = re.findall(r'\{"([a-z][a-z -]*)",\s*"[A-Z]', sources("app/ctl/*.cc"))
    commands = {command.split()[0] for command in table}
    assert len(commands) > 50
    wrong = [
        f"{name(document)}: ctl {command}"
        for document in NAMING
        for command in re.findall(r"\bvedette ctl ([a-z][a-z-]*)", document.read_text())
        if command not in commands
    ]
    assert wrong == []


def test_every_refusal_that_is_named_is_one():
    texts = set(re.findall(r'"([a-z][a-z_]+)"', "".join(sources(f"{floor}/**/*.cc") + sources(f"{floor}/**/*.h")
                                                       for floor in ("api", "admin", "rest", "domain"))))
    named = {(name(path), code) for path in NAMING for code in re.findall(r"\b[45]\d\d `([a-z_]+)`", path.read_text())}
    assert len(named) > 10
    assert {(path, code) for path, code in named if code not in texts} == set()


def test_every_refusal_of_the_api_is_in_its_document():
    """By whatever function it is answered; what the operator's port alone answers is not there."""
    made = re.compile(r'\b(?:ErrorReply|Refusal)\(\{?\s*\d{3},\s*"([a-z_]+)"|\bUnavailable\(\s*"([a-z_]+)",')
    codes = {code for pair in made.findall(sources("api/kit/*.cc") + sources("api/tenant/**/*.cc")) for code in pair if code}
    assert len(codes) > 50
    assert codes - set(re.findall(r"\b[a-z_]+\b", sources("api/openapi/*.yaml"))) == set()


def names_of(file, array):
    """The texts of a table of names in the code."""
    text = (ROOT / file).read_text()
    return re.findall(r'"([a-z_]+)"sv', text[text.index(f"std::array {array}{{"):].split("};")[0])


def list_of(file, constant):
    """A list of names in the console."""
    text = (ROOT / "web/console" / file).read_text()
    return re.findall(r"'([^']+)'", text[text.index(f"const {constant} = ["):].split("];")[0])


def test_the_console_offers_what_the_code_has():
    assert sorted(list_of("jobs.js", "KINDS")) == sorted(names_of("domain/job/job.cc", "kKinds"))
    assert sorted(list_of("jobs.js", "STATUSES")) == sorted(names_of("domain/job/job.cc", "kStatuses"))
    assert sorted(list_of("runs.js", "STATUSES")) == sorted(["active", *names_of("domain/job/job.cc", "kStatuses")])
    assert sorted(list_of("monitors.js", "STATUSES")) == sorted(names_of("domain/monitor/enums.cc", "kMonitorStatuses"))
    outcomes = re.findall(r'return "([a-z_]+)";', (ROOT / "domain/monitor/enums.cc").read_text())
    assert sorted(list_of("monitors.js", "OUTCOMES")) == sorted(set(outcomes) - {"unknown"})
    written = re.findall(r'\bAudit(?:Of(?:Key)?|Rows)\(call,\s*"([a-z_.]+)"', sources("api/**/*.cc"))
    assert len(set(written)) > 40
    assert list_of("audit.js", "ACTIONS") == sorted(set(written))


def tables_of_migrations():
    """Each table with its definition and what was added to it."""
    text = sources("store/migrations/*.sql")
    tables = dict(re.findall(r"^create (?:unlogged )?table (\w+) (.*?);$", text, re.MULTILINE | re.DOTALL))
    for table, change in re.findall(r"^alter table (\w+)(.*?);$", text, re.MULTILINE | re.DOTALL):
        tables[table] = tables.get(table, "") + change
    return tables


def test_what_privacy_says_of_tables_is_so():
    text = (ROOT / "docs/privacy.md").read_text()
    stored = re.findall(r"^\|[^|]*\|([^|]*)\|", text[text.index("## 1."):text.index("## 2.")], re.MULTILINE)
    named = [where.partition(".") for cell in stored for where in re.findall(r"`(\w+(?:\.\w+)?)`", cell)]
    assert len(named) > 10
    tables = tables_of_migrations()
    for table, _, column in named:
        assert table in tables and re.search(rf"\b{column}\b", tables[table]), (table, column)


def test_what_is_said_of_connections_adds_up():
    text = (ROOT / "config/config.default.toml").read_text()
    pools = sum(value for key, value in tomllib.loads(text)["database"].items() if key.endswith("_connections"))
    pools += sum(map(int, re.findall(r"_connections = (\d+);", (ROOT / "config/database_config.h").read_text())))
    assert f"takes {pools + 1}, and one more to listen" in text, "one is the process's own"
    assert f"All roles: {pools + 2}." in (ROOT / "docs/operations.md").read_text()


def test_a_default_that_stands_behind_its_setting_is_that():
    defaults = tomllib.loads((ROOT / "config/config.default.toml").read_text())
    units = {"minutes": "m", "hours": "h", "days": "d"}
    wrong, looked = [], 0
    for path in NAMING:
        for section, key, said in re.findall(r"`\[([a-z_.]+)\]\s+([a-z_]+)` \((\d+(?: (?:s|minutes|hours|days))?)\)", path.read_text()):
            value = defaults
            for word in (*section.split("."), key):
                value = value[word]
            number, _, unit = said.partition(" ")
            meant = {"": number, "s": str(int(number) * 1000)}.get(unit, number + units.get(unit, ""))
            looked += 1
            wrong += [f"{name(path)}: [{section}] {key} ({said}), but {value}"] if str(value) != meant else []
    assert wrong == [] and looked > 8


def test_what_documents_count_and_list_is_so():
    fields = json.loads((ROOT / "domain/search/fields.json").read_text())
    counted = f"{len(fields['company'])} of companies and {len(fields['people'])} of people"
    assert counted in (ROOT / "docs/search.md").read_text(), counted
    workflows = (ROOT / "docs/workflows.md").read_text()
    shipped = {path.stem: json.loads(path.read_text()) for path in (ROOT / "domain/workflow/templates").glob("*.json")}
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| ([a-z_, ]+) \|", workflows[workflows.index("## Templates"):], re.MULTILINE))
    assert listed == {slug: ", ".join(block["block_name"] for block in template["blocks"])
                      for slug, template in shipped.items()}
    before = workflows[:workflows.index("## Columns")]
    blocks = re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (`[^|]*) \|", before, re.MULTILINE)))
    served = re.findall(r"^## `?([a-z_]+)`?$", (ROOT / "docs/blocks.md").read_text(), re.MULTILINE)
    assert sorted(blocks) == sorted(served)


def test_the_body_of_a_callback_is_as_it_is_shown():
    text = (ROOT / "docs/webhooks.md").read_text()
    section = text[text.index("### Callbacks of jobs"):text.index("## What to answer")]
    shown = re.findall(r'"(\w+)":', section[section.index("```"):])
    made = (ROOT / "domain/workflow/lookup_result.cc").read_text()
    made = made[made.index("Json CallbackJson("):]
    assert shown == re.findall(r'\{"(\w+)", ', made[:made.index("\n}\n")])
    kinds = set(names_of("domain/job/job.cc", "kKinds")) - {"workflow", "investigation"}
    told = re.findall(r"`(\w+)`", section[section.index("`task_type` (") + len("`task_type` ("):section.index("), `Service-Event-Id`")])
    assert set(told) == kinds


def test_there_is_one_version():
    version = re.search(r"project\(vedette VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    chart = yaml.safe_load((ROOT / "helm/vedette/Chart.yaml").read_text())
    assert chart["version"] == str(chart["appVersion"]) == version
    described = yaml.safe_load((ROOT / "api/openapi/common.yaml").read_text())
    assert described["info"]["version"] == version
    assert re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
    named = {(name(path), tag) for path in [*NAMING, ROOT / "deploy/compose.yaml"]
             for tag in re.findall(r"\bvedette[:/-](\d+\.\d+\.\d+)", path.read_text())}
    assert named and {tag for _, tag in named} == {version}, named


def test_every_example_is_explained():
    text = (ROOT / "docs/examples/README.md").read_text()
    files = {path.name for path in (ROOT / "docs" / "examples").rglob("*") if path.suffix in {".py", ".toml"}}
    assert files and {file for file in files if f"`{file}`" not in text} == set()


def test_what_documents_say_of_the_chart_is_a_value_of_it():
    values = yaml.safe_load((ROOT / "helm/vedette/values.yaml").read_text())
    wrong = []
    for path in NAMING:
        for words in re.findall(rf"`((?:{'|'.join(values)})(?:\.\w+)+)", path.read_text()):
            at = values
            for word in words.split("."):
                at = at.get(word, at if at == {} else None) if isinstance(at, dict) else None
            if at is None:
                wrong.append(f"{name(path)}: {words}")
    assert wrong == []


def test_the_scopes_of_keys_name_every_room():
    rooms = re.findall(r'\{"(/[^"]+)", KeyScope::k(\w+)\}', (ROOT / "api/tenant/authenticate.h").read_text())
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs/authentication.md").read_text(), re.MULTILINE))
    assert len(rooms) > 15
    missing = [room for room, scope in rooms if room != "/dashboard/" and f"`{room}`" not in rows[scope.lower()]]
    assert missing == []
