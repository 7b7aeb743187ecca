#!/usr/bin/python3
"""Our CSS translator and extraction against cssselect and lxml, over real pages and hostile little ones.

Usage: css_differential_test.py SELECTOR_CLI. Exits 77 (skipped) where cssselect or lxml is missing.
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import cssselect
    import lxml.html
except ImportError:
    sys.exit(77)

DOCS = "/usr/share/doc/postgresql-doc-15/html"
PAGES_OF_DOCS = 25

# What cssselect means otherwise than CSS does is left out: :is() behind another condition, :only-child's
# kin inside lists, an input without a type, and what it does not know.
SELECTORS = """
*
html
DIV
p
table tr td
table > tr > td
div.navheader th
div.navheader > table td:first-child
h1.title, h2.title, h3
#not-there
[id]
[class="sect1"]
[class~=title]
[class|=chapter]
[href^="sql-"]
[href$=".html"]
[href*="index"]
[href!="index.html"]
[title=""]
a[href][title]
a:not([href])
a:not(.ulink)
*:not(p)
:not(*)
dt + dd
dt ~ dd
p + p + p
p ~ p > code
li > p:only-child
li:first-child p
li:last-child
tr:nth-child(2)
tr:nth-child(odd)
tr:nth-child(even)
tr:nth-child(3n)
tr:nth-child(3n+1)
tr:nth-child(3n-1)
tr:nth-child(n+3)
tr:nth-child(-n+3)
tr:nth-child(-2n+5)
tr:nth-child(0n+4)
tr:nth-child( 2n + 1 )
tr:nth-child(0)
tr:nth-last-child(2)
tr:nth-last-child(2n+1)
p:nth-of-type(2)
p:nth-of-type(2n)
p:nth-last-of-type(-n+2)
p:first-of-type
p:last-of-type
p:only-of-type
:root
:root > body
:empty
p:empty
td:empty
code:contains("SELECT")
p:contains(index)
a:link
input:enabled
input:disabled
input:checked
option:checked
a:hover
:lang(en)
div:is(.sect1, .sect2) > p
:is(h1, h2, h3)
:where(dl, ul) > *
pre.synopsis
code.literal
div div div p
div > div p code
body * + table
div.table p.title strong
.refentry .refsynopsisdiv
div.sect1 > div.titlepage h2
a.xref[href*="#"]
a[name], a[id]
td:nth-child(2) > code:first-child
dl > dt:nth-of-type(3) + dd > p
h2 ~ div
ul li li
[type="disc"]
li.listitem > p:first-of-type
table[summary][border="1"]
td:not(:first-child)
li:not(:last-child):not(:first-child)
.title\\.x, #a\\:b
[data-x="it's"]
[data-x='say "hi"']
[data-x="both ' and \\""]
p:contains("it's \\"so\\"")
div#main.wide[data-x]
*|p
""".strip().splitlines()

LITTLE_PAGES = [
    "",
    "<p>",
    "<div id=main class='wide a-b' data-x=1><p>one<p class='Title title'>two<span></span></div>",
    "<div id='a:b'><a name=x></a><p data-x=\"it's\">it's \"so\"</p><p data-x='say \"hi\"'>y</p></div>",
    "<table><tr><td>1<td>2<tr><td><code>x</code><td></table><ul><li>a<li><ul><li>b</ul></ul>",
    "<form><input type=text disabled><input type=checkbox checked><fieldset disabled><input type=url></fieldset>"
    "<select><option selected>1<option>2</select></form><div lang=en-GB><p>x</p></div>",
    "<dl><dt>a<dd>b<dt>c<dd>d</dl><p>1</p>text<p>2</p><!-- c --><p>3</p><p> </p><p></p>",
]


def ours(cli, mode, page, lines):
    answer = subprocess.run([cli, mode, page], input="\n".join(lines) + "\n", text=True, check=True,
                            stdout=subprocess.PIPE, timeout=120).stdout.splitlines()
    assert len(answer) == len(lines), (len(answer), len(lines))
    return [json.loads(line) for line in answer]


def parse(page):
    with open(page, "rb") as f:
        data = f.read()
    if not data.strip():
        return None
    return lxml.html.document_fromstring(data, parser=lxml.html.HTMLParser(encoding="utf-8"))


def random_selector(rng, tree):
    """A selector made of what the page has, so that it often matches."""
    elements = [e for e in tree.iter() if isinstance(e.tag, str)]

    def compound():
        e = rng.choice(elements)
        out = rng.choice([e.tag, "*", e.tag])
        if rng.random() < 0.4 and e.get("class", "").split():
            out += "." + rng.choice(e.get("class").split())
        if rng.random() < 0.2 and e.attrib:
            out += "[%s]" % rng.choice([a for a in e.attrib])
        if rng.random() < 0.3:
            out += rng.choice([":first-child", ":last-child", ":nth-child(2n+1)", ":not(.title)",
                               ":nth-last-child(-n+2)", ":only-child", ":empty"])
        return out

    parts = [compound()]
    for _ in range(rng.randint(0, 3)):
        parts += [rng.choice([" ", " > ", " + ", " ~ "]), compound()]
    return "".join(parts)


def text(element):
    return " ".join(element.xpath("string()").split())


def check_page(cli, page, selectors):
    tree = parse(page)
    translator = cssselect.HTMLTranslator()
    faults = []
    paths = ours(cli, "paths", page, selectors)
    values = ours(cli, "values", page, ["css:" + s for s in selectors])
    for selector, got, value in zip(selectors, paths, values):
        xpath = translator.css_to_xpath(selector)
        matches = tree.xpath(xpath) if tree is not None else []
        expected = sorted({tree.getroottree().getpath(e) for e in matches})
        if sorted(got) != expected if isinstance(got, list) else True:
            faults.append(f"{page}: {selector!r}: expected {expected[:5]}, got {str(got)[:300]}")
        first = text(matches[0]) if matches else None
        long = first is not None and len(first.encode()) > 65536
        if value != first and not (long and "longer than" in str(value)):
            faults.append(f"{page}: {selector!r}: first {first!r:.200} but {value!r:.200}")
    return faults


def main():
    cli = sys.argv[1]
    rng = random.Random(20)
    pages = sorted(glob.glob(os.path.join(DOCS, "*.html")))
    pages = rng.sample(pages, min(PAGES_OF_DOCS, len(pages)))
    faults = []
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, content in enumerate(LITTLE_PAGES):
            path = os.path.join(folder, f"{i}.html")
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
            pages.append(path)
        for page in pages:
            tree = parse(page)
            extra = [random_selector(rng, tree) for _ in range(40)] if tree is not None else []
            faults += check_page(cli, page, SELECTORS + extra)
            compared += len(SELECTORS) + len(extra)
    print(f"{compared} selections compared on {len(pages)} pages, {len(faults)} differ")
    print("\n".join(faults[:40]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
