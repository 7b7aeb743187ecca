#!/usr/bin/env python3
"""Puts the parts of the API's description together: render_openapi.py FOLDER JSON HTML.

FOLDER/common.yaml has what all resources share and names the other parts, a file a resource, in their order (x-parts).
A part has tags, paths and components. Nothing may stand in two parts. The page asks nothing of the network: its style and
its one script stand in it, and beside HTML a file of the same name with the suffix .policy has the Content-Security-Policy
that lets this script run and no other. JSON.gz and HTML.gz are the two compressed, the same bytes at every run.
"""

import base64
import gzip
import hashlib
import html
import json
import re
import shlex
import sys
from pathlib import Path

import yaml

LINE = "\n"
PROBES = Path(__file__).resolve().parents[1] / "docs" / "probes.md"
STYLE = """
:root{color-scheme:light dark}[hidden]{display:none}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f3f5f7;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8em;white-space:pre-wrap;overflow-wrap:anywhere}
h1,h2,h3,p,li,td,th{overflow-wrap:anywhere}#find{font:inherit;width:100%;max-width:30rem;box-sizing:border-box}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
td,th{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:3.5em;font-weight:700;color:#0550ae}
summary{cursor:pointer;padding:.5rem 0}summary h2,summary h3{display:inline;font-size:1.1rem}summary p{margin:.2rem 0}
.group{border-top:1px solid #d0d7de}.group section{margin-left:.6rem;border-top:1px dotted #d0d7de}
.start a{display:inline-block;padding:.3rem .6rem .3rem 0}
@media (max-width:40rem){table,tbody,tr,td{display:block}thead{display:none}
tr{border:1px solid #d0d7de;margin:.4rem 0}td{border:0}td:first-child{font-weight:700}
td[data-head]::before{content:attr(data-head) ": ";font-weight:400;color:#57606a}td:empty{display:none}
.group section{margin-left:0}}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#d8dee6}
code,pre{background:#1b222c}td,th,tr,.group,.group section{border-color:#30363d}.method,a{color:#6cb6ff}
td[data-head]::before{color:#9aa4af}}
"""
# Opens what the address names, and shows the sections alone that have all words of the search, in opened groups.
SCRIPT = """
const find = document.getElementById('find');
const found = document.getElementById('found');
const groups = [...document.querySelectorAll('.group')];
const parts = [...document.querySelectorAll('.group section')].map(part => ({part, text: part.textContent.toLowerCase()}));
find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\\s+/).filter(word => word);
  let shown = 0;
  for (const {part, text} of parts) {
    part.hidden = !words.every(word => text.includes(word));
    if (!part.hidden) ++shown;
  }
  for (const group of groups) {
    group.hidden = !group.querySelector('section:not([hidden])');
    group.open = words.length > 0;
  }
  found.textContent = words.length ? `${shown} found` : '';
});
function show() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named) return;
  if (named.hidden) {
    find.value = '';
    find.dispatchEvent(new Event('input'));
  }
  named.querySelector('details')?.setAttribute('open', '');
  for (let at = named; at; at = at.parentElement) if (at.localName === 'details') at.open = true;
  named.scrollIntoView();
}
addEventListener('hashchange', show);
show();
document.getElementById('search').hidden = false;
"""


def spans(value):
    """A line of prose: escaped, `code` and **strong** kept."""
    parts = html.escape(" ".join(str(value).split())).split("`")
    for i in range(len(parts)):
        parts[i] = f"<code>{parts[i]}</code>" if i % 2 else re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", parts[i])
    return "".join(parts)


def table(heads, rows):
    """Cells are HTML. On a phone a row stands alone, so each cell but the first knows what it is."""
    names = [re.sub("<[^>]+>", "", head) for head in heads]
    out = ["<table><thead><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead><tbody>"]
    for row in rows:
        out.append("<tr>" + "".join(f'<td data-head="{names[n]}">{cell.strip()}</td>' if n and cell.strip() else f"<td>{cell.strip()}</td>"
                                    for n, cell in enumerate(row)) + "</tr>")
    return "\n".join([*out, "</tbody></table>"])


def cells(lines):
    """The cells of a table in Markdown, a row a line, without the line under its head."""
    rows = [[spans(cell.strip().replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]] for line in lines]
    return rows[:1] + rows[2:]


def block(lines):
    """What stands between two blank lines."""
    if lines[0].startswith("## "):
        title = lines[0][3:]
        return f'<h2 id="{title.lower().replace(" ", "-")}">{spans(title)}</h2>'
    if lines[0].startswith("```"):
        return "<pre>" + html.escape("\n".join(lines[1:-1])) + "</pre>"
    if lines[0].startswith("|"):
        heads, *rows = cells(lines)
        return table(heads, rows)
    if lines[0].startswith("- "):
        items = re.split(r"^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{spans(item)}</li>" for item in items) + "</ul>"
    return f"<p>{spans(' '.join(lines))}</p>"


def text(value):
    """Prose with what descriptions have of Markdown: paragraphs, headings, lists, tables, fenced samples without blank lines."""
    return "\n".join(block(part.split("\n")) for part in re.split(r"\n\s*\n", str(value or "").strip()) if part)


def inline(value):
    return spans(value) if value else ""


def resolve(document, node):
    while isinstance(node, dict) and "$ref" in node:
        target = document
        for part in node["$ref"].lstrip("#/").split("/"):
            target = target[part]
        node = target
    return node


def type_name(schema):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f'<a href="#schema-{name}">{name}</a>'
    if "const" in schema:
        return html.escape(json.dumps(schema["const"]))
    if "enum" in schema:
        return " | ".join(html.escape(json.dumps(v)) for v in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(type_name(s) for s in schema[key])
    if "allOf" in schema:
        return " and ".join(type_name(s) for s in schema["allOf"])
    kind = schema.get("type", "any")
    names = kind if isinstance(kind, list) else [kind]
    if "array" in names:
        names = ["array of " + type_name(schema.get("items", {})) if n == "array" else n for n in names]
    return " or ".join(names)


def limits(schema):
    words = {"minimum": "at least", "maximum": "at most", "minLength": "characters at least",
             "maxLength": "characters at most", "minItems": "items at least", "maxItems": "items at most",
             "minProperties": "members at least", "maxProperties": "members at most",
             "pattern": "pattern", "default": "default"}
    said = "; ".join(f"{words[k]} <code>{html.escape(json.dumps(schema[k]))}</code>" for k in words if k in schema)
    return f"({said})" if said else ""


def properties(schema):
    rows = []
    required = set(schema.get("required", []))
    for name, field in schema.get("properties", {}).items():
        rows.append((f"<code>{html.escape(name)}</code>{' *' if name in required else ''}", type_name(field),
                     f"{inline(field.get('description'))} {limits(field)}"))
    return table(("field", "type", "meaning"), rows) if rows else ""


def example(media):
    found = []
    if "example" in media:
        found.append(("", media["example"]))
    for name, entry in media.get("examples", {}).items():
        found.append((entry.get("summary", name), entry.get("value")))
    return "".join(f"<p>{html.escape(title)}</p><pre>{html.escape(json.dumps(v, indent=2, default=str))}</pre>"
                   for title, v in found)


def curl(document, path, method, op, parameters):
    """The operation as a command line, with the first example of its body."""
    query = "&".join(f"{p['name']}=${p['name'].upper()}" for p in parameters if p["in"] == "query" and p.get("required"))
    url = re.sub(r"{(\w+)}", lambda match: "$" + match[1].upper(), path) + (query and "?" + query)
    lines = [f'curl -s "$API_URL{url}"']
    if any("apiKey" in way for way in op.get("security", document.get("security", []))):
        lines.append('-H "x-api-key: $API_KEY"')
    kind, media = next(iter(resolve(document, op.get("requestBody", {})).get("content", {}).items()), (None, {}))
    if kind is None and method != "get":
        lines.append(f"-X {method.upper()}")
    elif kind == "text/csv":
        lines += ["-H 'Content-Type: text/csv'", "--data-binary @FILE.csv"]
    elif kind is not None:
        examples = [entry.get("value") for entry in media.get("examples", {}).values()]
        schema = resolve(document, media.get("schema", {}))
        needed = {name: "..." for name in schema.get("required", [])}
        body = media.get("example", examples[0] if examples else needed)
        if kind == "application/x-www-form-urlencoded":
            lines += [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in body.items()]
        else:
            lines += [f"-H 'Content-Type: {kind}'", f"-d {shlex.quote(json.dumps(body, indent=2, default=str))}"]
        if method != "post":
            lines.append(f"-X {method.upper()}")
    return " \\\n  ".join(lines)


def section(name, head, body):
    """A part of a group that is opened alone."""
    return f'<section id="{name}"><details><summary>{head}</summary>{body}</details></section>'


def group(name, description, body):
    return (f'<details class="group" id="{name.lower().replace(" ", "-")}"><summary><h2>{html.escape(name)}</h2>{text(description)}'
            f'</summary>{LINE.join(body)}</details>')


def operation(document, path, method, op, shared):
    head = (f'<h3><span class="method">{method.upper()}</span> <code>{html.escape(path)}</code></h3>{text(op.get("summary"))}')
    out = [text(op.get("description"))]
    parameters = [resolve(document, p) for p in shared + op.get("parameters", [])]
    out.append(f'<pre class="curl">{html.escape(curl(document, path, method, op, parameters))}</pre>')
    if parameters:
        out.append(table(("parameter", "in", "type", "meaning"), [
            (f"<code>{p['name']}</code>{' *' if p.get('required') else ''}", p["in"], type_name(p.get("schema", {})),
             f"{inline(p.get('description'))} {limits(p.get('schema', {}))}") for p in parameters]))
    body = resolve(document, op.get("requestBody", {}))
    for kind, media in body.get("content", {}).items():
        out.append(f"<p>Body: <code>{kind}</code> {type_name(media.get('schema', {}))}</p>{example(media)}")
    answers = [(status, resolve(document, answer)) for status, answer in op["responses"].items()]
    out.append(table(("status", "answer", "body"), [
        (str(status), inline(answer.get("description")),
         " ".join(type_name(media.get("schema", {})) for media in answer.get("content", {}).values()))
        for status, answer in answers]))
    for status, answer in answers:
        if str(status).startswith("2"):
            out.extend(example(media) for media in answer.get("content", {}).values())
    return section(op["operationId"], head, "\n".join(out))


def describing():
    """How watched fields are described: the two tables of docs/probes.md, descriptions and filters."""
    found = re.search(r"^## web: selectors over a page\n(.*?)^## ", PROBES.read_text(encoding="utf-8"),
                      re.MULTILINE | re.DOTALL)[1]
    return "".join(block(lines.splitlines()) for lines in re.findall(r"(?:^\|.*\n)+", found, re.MULTILINE)[:2])


def page(document):
    info = document["info"]
    groups = []
    for tag in document["tags"]:
        groups.append(group(tag["name"], tag.get("description"), [
            operation(document, path, method, op, item.get("parameters", []))
            for path, item in document["paths"].items() for method, op in item.items()
            if method != "parameters" and tag["name"] in op.get("tags", [])]))
    groups.append(group("Watched fields", "How they are described.", [
        section("describing", "<h3>Describing watched fields</h3>", describing())]))
    groups.append(group("Schemas", "The members of every body, by name. A star: it has to be given, or is always there.", [
        section(f"schema-{name}", f"<h3>{name}</h3>", text(schema.get("description")) + properties(schema))
        for name, schema in document["components"]["schemas"].items()]))
    start = re.findall(r"^## (.*)$", info["description"], re.MULTILINE)
    links = "".join(f'<a href="#{title.lower().replace(" ", "-")}">{title}</a> ' for title in [*start, "Operations"])
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(info["title"])}</title>'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head><body>'
            f"<h1>{html.escape(info['title'])}</h1>{text(info['summary'])}"
            f'<nav class="start" aria-label="On this page">{links}<a href="openapi.json">openapi.json</a></nav>'
            f"<main>{text(info['description'])}"
            f'<h2 id="operations">Operations</h2>'
            f'<p id="search" hidden><label for="find">Find</label> <input type="search" id="find"> '
            f'<span id="found" role="status"></span></p>'
            f'{LINE.join(groups)}</main><script>{SCRIPT}</script></body></html>\n')


def policy():
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def add(members, into, part):
    for name, value in members.items():
        if name in into:
            sys.exit(f"{part}: {name} stands in another part, too")
        into[name] = value


def add_common_refusals(paths):
    """What every operation with a credential may answer beside its own: a 400 to two credentials at once, and a 422 to a
    parameter of the query that it does not have."""
    for item in paths.values():
        for operation in item.values():
            if not isinstance(operation, dict) or "401" not in operation.get("responses", {}):
                continue
            answers = dict(operation["responses"])
            answers.setdefault("400", {"$ref": "#/components/responses/BadRequest"})
            if "requestBody" not in operation:  # the others have it of their bodies
                answers.setdefault("422", {"$ref": "#/components/responses/Invalid"})
            operation["responses"] = dict(sorted(answers.items()))


def read(folder):
    """The whole document."""
    common = yaml.safe_load((folder / "common.yaml").read_text(encoding="utf-8"))
    names = common.pop("x-parts")
    strangers = {path.stem for path in folder.glob("*.yaml")} - {"common", *names}
    if strangers:
        sys.exit(f"common.yaml does not name these parts: {', '.join(sorted(strangers))}")
    components = common.pop("components")
    tags, paths = common.pop("tags", []), common.pop("paths", {})
    for name in names:
        part = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
        tags += part.pop("tags", [])
        add(part.pop("paths", {}), paths, name)
        for kind, members in part.pop("components", {}).items():
            add(members, components.setdefault(kind, {}), name)
        if part:
            sys.exit(f"{name}: only common.yaml has {', '.join(part)}")
    add_common_refusals(paths)
    return {**common, "tags": tags, "paths": paths, "components": components}


def main():
    folder, json_path, html_path = sys.argv[1:]
    document = read(Path(folder))
    for path, written in ((json_path, json.dumps(document, ensure_ascii=False, indent=1, default=str) + "\n"),
                          (html_path, page(document))):
        Path(path).write_text(written, encoding="utf-8")
        Path(f"{path}.gz").write_bytes(gzip.compress(written.encode(), mtime=0))
    Path(html_path).with_suffix(".policy").write_text(policy(), encoding="utf-8")


main()
