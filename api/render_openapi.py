#!/usr/bin/env python3
"""Puts the parts of the API's description together: render_openapi.py FOLDER JSON HTML.

FOLDER/common.yaml has what all resources share and names the other parts, a file a resource, in their order (x-parts).
A part has tags, paths and components. Nothing may stand in two parts. The page asks nothing of the network: its style and
its one script stand in it, and beside HTML a file of the same name with the suffix .policy has the Content-Security-Policy
that lets this script run and no other.
"""

import base64
import hashlib
import html
import json
import re
import shlex
import sys
from pathlib import Path

import yaml

PROBES = Path(__file__).resolve().parents[1] / "docs" / "probes.md"
STYLE = """
:root{color-scheme:light dark}[hidden]{display:none}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1,h2,h3{line-height:1.2}h2{border-bottom:1px solid #d0d7de;margin-top:3rem}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f3f5f7;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8em;white-space:pre-wrap;overflow-wrap:anywhere}
h1,h2,h3,p,li{overflow-wrap:anywhere}#find{font:inherit;width:100%;max-width:30rem;box-sizing:border-box}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
td,th{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:3.5em;font-weight:700;color:#0550ae}
nav a{text-decoration:none}nav li{margin:.15rem 0}
@media (max-width:40rem){table,tbody,tr,td,th{display:block}tr{border:1px solid #d0d7de;margin:.4rem 0}
td,th{border:0;overflow-wrap:anywhere}}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#d8dee6}
code,pre{background:#1b222c}td,th,h2{border-color:#30363d}.method,a{color:#6cb6ff}}
"""
# Hides the sections, and their entries in the list, that do not have all words of the search.
SCRIPT = """
const find = document.getElementById('find');
const found = document.getElementById('found');
const parts = [...document.querySelectorAll('section')].map(part => ({
  part, text: part.textContent.toLowerCase(), entry: document.querySelector(`nav a[href="#${part.id}"]`)}));
find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\\s+/).filter(word => word);
  let shown = 0;
  for (const {part, text, entry} of parts) {
    part.hidden = !words.every(word => text.includes(word));
    if (entry) entry.parentElement.hidden = part.hidden;
    if (!part.hidden) ++shown;
  }
  found.textContent = words.length ? `${shown} found` : '';
});
document.getElementById('search').hidden = false;
"""


def text(value):
    """Prose: escaped, blank lines as paragraphs, `code` kept."""
    paragraphs = []
    for block in str(value or "").strip().split("\n\n"):
        parts = html.escape(" ".join(block.split())).split("`")
        for i in range(1, len(parts), 2):
            parts[i] = "<code>" + parts[i] + "</code>"
        paragraphs.append("<p>" + "".join(parts) + "</p>")
    return "\n".join(paragraphs)


def inline(value):
    return text(value)[3:-4] if value else ""


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
    return "; ".join(f"{words[k]} <code>{html.escape(json.dumps(schema[k]))}</code>"
                     for k in words if k in schema)


def properties(schema):
    rows = []
    required = set(schema.get("required", []))
    for name, field in schema.get("properties", {}).items():
        rows.append(f"<tr><td><code>{html.escape(name)}</code>{' *' if name in required else ''}</td>"
                    f"<td>{type_name(field)}</td><td>{inline(field.get('description'))} {limits(field)}</td></tr>")
    if not rows:
        return ""
    return "<table><tr><th>field</th><th>type</th><th></th></tr>" + "".join(rows) + "</table>"


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


def operation(document, path, method, op, shared):
    out = [f'<section id="{op["operationId"]}"><h3><span class="method">{method.upper()}</span> '
           f"<code>{html.escape(path)}</code></h3>", text(op.get("summary")), text(op.get("description"))]
    parameters = [resolve(document, p) for p in shared + op.get("parameters", [])]
    out.append(f'<pre class="curl">{html.escape(curl(document, path, method, op, parameters))}</pre>')
    if parameters:
        out.append("<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>")
        for p in parameters:
            schema = p.get("schema", {})
            out.append(f"<tr><td><code>{p['name']}</code>{' *' if p.get('required') else ''}</td><td>{p['in']}</td>"
                       f"<td>{type_name(schema)}</td><td>{inline(p.get('description'))} {limits(schema)}</td></tr>")
        out.append("</table>")
    body = resolve(document, op.get("requestBody", {}))
    for kind, media in body.get("content", {}).items():
        out.append(f"<p>Body: <code>{kind}</code> {type_name(media.get('schema', {}))}</p>{example(media)}")
    out.append("<table><tr><th>status</th><th>answer</th></tr>")
    for status, answer in op["responses"].items():
        answer = resolve(document, answer)
        kinds = [type_name(m.get("schema", {})) for m in answer.get("content", {}).values()]
        out.append(f"<tr><td>{status}</td><td>{inline(answer.get('description'))} {' '.join(kinds)}</td></tr>")
    out.append("</table>")
    for status, answer in op["responses"].items():
        answer = resolve(document, answer)
        if str(status).startswith("2"):
            out.extend(example(m) for m in answer.get("content", {}).values())
    return "\n".join([*out, "</section>"])


def describing():
    """How watched fields are described: the two tables of docs/probes.md, descriptions and filters."""
    section = re.search(r"^## web: selectors over a page\n(.*?)^## ", PROBES.read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)[1]
    out = ['<section id="describing"><h2>Describing watched fields</h2>']
    for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[:2]:
        rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                for line in table.splitlines()]
        out.append("<table>")
        for n, row in enumerate(rows[:1] + rows[2:]):
            tag = "td" if n else "th"
            out.append("<tr>" + "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row) + "</tr>")
        out.append("</table>")
    return "".join([*out, "</section>"])


def page(document):
    info = document["info"]
    nav, body = [], []
    for tag in document["tags"]:
        nav.append(f"<li><strong>{html.escape(tag['name'])}</strong><ul>")
        body.append(f"<h2>{html.escape(tag['name'])}</h2>{text(tag.get('description'))}")
        for path, item in document["paths"].items():
            for method, op in item.items():
                if method == "parameters" or tag["name"] not in op.get("tags", []):
                    continue
                nav.append(f'<li><a href="#{op["operationId"]}"><span class="method">{method.upper()}</span> '
                           f"{html.escape(path)}</a></li>")
                body.append(operation(document, path, method, op, item.get("parameters", [])))
        nav.append("</ul></li>")
    nav.append('<li><a href="#describing">Describing watched fields</a></li>')
    body.append(describing())
    body.append("<h2>Schemas</h2>")
    for name, schema in document["components"]["schemas"].items():
        body.append(f'<section id="schema-{name}"><h3>{name}</h3>{text(schema.get("description"))}'
                    f"{properties(schema)}</section>")
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(info["title"])}</title>'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head><body>'
            f"<h1>{html.escape(info['title'])} {html.escape(info['version'])}</h1>{text(info['description'])}"
            f'<p>Machine-readable: <a href="openapi.json">openapi.json</a></p>'
            f'<p id="search" hidden><label for="find">Find</label> <input type="search" id="find"> '
            f'<span id="found" role="status"></span></p><nav><ul>{"".join(nav)}</ul></nav>'
            f'<main>{"".join(body)}</main><script>{SCRIPT}</script></body></html>\n')


def policy():
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def add(members, into, part):
    for name, value in members.items():
        if name in into:
            sys.exit(f"{part}: {name} stands in another part, too")
        into[name] = value


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
    return {**common, "tags": tags, "paths": paths, "components": components}


def main():
    folder, json_path, html_path = sys.argv[1:]
    document = read(Path(folder))
    with open(json_path, "w", encoding="utf-8") as f:
        json.dump(document, f, ensure_ascii=False, separators=(",", ":"), default=str)
    with open(html_path, "w", encoding="utf-8") as f:
        f.write(page(document))
    Path(html_path).with_suffix(".policy").write_text(policy(), encoding="utf-8")


main()
