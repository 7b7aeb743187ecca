#!/usr/bin/env python3
"""Puts the parts of the API's description together: render_openapi.py FOLDER JSON HTML.

FOLDER/common.yaml has what all resources share and names the other parts, a file a resource, in their order (x-parts).
A part has tags, paths and components. Nothing may stand in two parts.
"""

import html
import json
import sys
from pathlib import Path

import yaml

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1,h2,h3{line-height:1.2}h2{border-bottom:1px solid #d0d7de;margin-top:3rem}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f3f5f7;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8em;overflow:auto}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
td,th{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:3.5em;font-weight:700;color:#0550ae}
nav a{text-decoration:none}nav li{margin:.15rem 0}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#d8dee6}
code,pre{background:#1b222c}td,th,h2{border-color:#30363d}.method,a{color:#6cb6ff}}
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


def operation(document, path, method, op, shared):
    out = [f'<h3 id="{op["operationId"]}"><span class="method">{method.upper()}</span> '
           f"<code>{html.escape(path)}</code></h3>", text(op.get("summary")), text(op.get("description"))]
    parameters = [resolve(document, p) for p in shared + op.get("parameters", [])]
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
    return "\n".join(out)


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
    body.append("<h2>Schemas</h2>")
    for name, schema in document["components"]["schemas"].items():
        body.append(f'<h3 id="schema-{name}">{name}</h3>{text(schema.get("description"))}{properties(schema)}')
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(info["title"])}</title>'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head><body>'
            f"<h1>{html.escape(info['title'])} {html.escape(info['version'])}</h1>{text(info['description'])}"
            f'<p>Machine-readable: <a href="openapi.json">openapi.json</a></p><nav><ul>{"".join(nav)}</ul></nav>'
            f'{"".join(body)}</body></html>\n')


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


main()
