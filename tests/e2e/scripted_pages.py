"""Pages that scripts make, with frameworks of npm and by what browsers have of their own, and the site that serves them.

Each makes <h1>made by NAME</h1> and a list of ITEMS, unless TITLE_OF or ITEMS_OF says otherwise.
"""

import concurrent.futures
import hashlib
import http.server
import json
import pathlib
import shutil
import subprocess
import threading
import time

from servers import QuietHandler
from testbed import npm_tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
ITEMS = ["tea", "coffee", "cocoa"]
LIST = "".join(f"<li>{item}</li>" for item in ITEMS)
APP = "<!DOCTYPE html><html><head><title>shop</title></head><body><div id=app></div>"
# What many of them end with: the page whose name is given, of the items that are.
SHOW = "<script>const show = (name, items) => app.innerHTML = `<h1>made by ${name}</h1><ul>${items.map(i => `<li>${i}</li>`).join('')}</ul>`;</script>"

FRAMEWORKS = {
    "react": APP + """<script src=/npm/react/umd/react.production.min.js></script>
<script src=/npm/react-dom/umd/react-dom.production.min.js></script><script>
const e = React.createElement, App = () => { const [items, set] = React.useState([]);
  React.useEffect(() => { fetch('/api/items').then(r => r.json()).then(set) }, []);
  return e('div', null, e('h1', null, 'made by react'), e('ul', null, items.map(i => e('li', {key: i}, i)))) };
ReactDOM.createRoot(app).render(e(App));</script>""",
    "vue": APP + """<script src=/npm/vue/dist/vue.global.prod.js></script><script>
Vue.createApp({data: () => ({items: []}), async mounted() { this.items = await (await fetch('/api/items')).json() },
  template: '<h1>made by vue</h1><ul><li v-for="i in items">{{ i }}</li></ul>'}).mount('#app');</script>""",
    "preact": APP + """<script type=module>import {h, render} from '/npm/preact/dist/preact.mjs';
render(h('div', null, h('h1', null, 'made by preact'), h('ul', null, ITEMS.map(i => h('li', null, i)))), app);</script>""",
    "solid": APP + """<script type=importmap>{"imports": {"solid-js": "/npm/solid-js/dist/solid.js",
"solid-js/web": "/npm/solid-js/web/dist/web.js", "solid-js/html": "/npm/solid-js/html/dist/html.js"}}</script>
<script type=module>import {createSignal} from 'solid-js'; import {render} from 'solid-js/web'; import html from 'solid-js/html';
const [items, set] = createSignal([]);
render(() => html`<h1>made by solid</h1><ul>${() => items().map(i => html`<li>${i}</li>`)}</ul>`, app); set(ITEMS);</script>""",
    "lit": APP + """<x-shop></x-shop><script type=importmap>{"imports": {"lit": "/npm/lit/index.js",
"lit-html": "/npm/lit-html/lit-html.js", "lit-html/is-server.js": "/npm/lit-html/is-server.js",
"lit-element/lit-element.js": "/npm/lit-element/lit-element.js", "@lit/reactive-element": "/npm/@lit/reactive-element/reactive-element.js"}}
</script><script type=module>import {LitElement, html} from 'lit'; customElements.define('x-shop', class extends LitElement {
  render() { return html`<h1>made by lit</h1><ul>${ITEMS.map(i => html`<li>${i}</li>`)}</ul>` } });</script>""",
    "alpine": APP + """<div x-data="{items: ITEMS}"><h1 x-text="'made by ' + 'alpine'"></h1><ul><template x-for="i in items"><li x-text=i></li>
</template></ul></div><script src=/npm/alpinejs/dist/cdn.min.js></script>""",
    "htmx": APP + """<div hx-get=/fragment hx-trigger=load></div><script src=/npm/htmx.org/dist/htmx.min.js></script>""",
    "mithril": APP + """<script src=/npm/mithril/mithril.min.js></script><script>
m.mount(app, {view: () => [m('h1', 'made by mithril'), m('ul', ITEMS.map(i => m('li', i)))]});</script>""",
    "svelte": APP + "<script src=/built/svelte.js></script>",
    "angular": APP + "<x-shop></x-shop><script src=/built/angular.js></script>",
    "react_router": APP + "<script src=/built/react_router.js></script>",
    "vue_router": APP + """<script src=/npm/vue/dist/vue.global.prod.js></script><script src=/npm/vue-router/dist/vue-router.global.prod.js></script>
<script>const Shop = {data: () => ({ITEMS}), template: '<h1>made by vue_router</h1><ul><li v-for="i in ITEMS">{{ i }}</li></ul>'};
const router = VueRouter.createRouter({history: VueRouter.createWebHistory(), routes: [
  {path: '/vue_router', redirect: '/vue_router/shop'}, {path: '/vue_router/shop', component: Shop}]});
Vue.createApp({template: '<router-view></router-view>'}).use(router).mount('#app');</script>""",
    "hash_router": APP + """<script src=/npm/vue/dist/vue.global.prod.js></script><script src=/npm/vue-router/dist/vue-router.global.prod.js></script>
<script>const Shop = {data: () => ({ITEMS}), template: '<h1>made by hash_router</h1><ul><li v-for="i in ITEMS">{{ i }}</li></ul>'};
const router = VueRouter.createRouter({history: VueRouter.createWebHashHistory(), routes: [
  {path: '/', component: {template: '<h1>the entrance</h1>'}}, {path: '/shop', component: Shop}]});
Vue.createApp({template: '<router-view></router-view>'}).use(router).mount('#app');</script>""",
    "petite_vue": APP + """<main v-scope="{items: ITEMS}"><h1 v-text="'made by ' + 'petite_vue'"></h1><ul><li v-for="i in items" v-text=i></li></ul></main>
<script src=/npm/petite-vue/dist/petite-vue.iife.js></script><script>PetiteVue.createApp().mount()</script>""",
    "stimulus": APP + """<main data-controller=shop></main><script type=module>
import {Application, Controller} from '/npm/@hotwired/stimulus/dist/stimulus.js';
Application.start().register('shop', class extends Controller { async connect() {
  this.element.innerHTML = await (await fetch('/fragment')).text(); } });</script>""",
    "turbo": APP + "<turbo-frame id=shop src=/turbo_frame></turbo-frame><script src=/npm/@hotwired/turbo/dist/turbo.es2017-umd.js></script>",
    "knockout": APP + """<h1 data-bind="text: 'made by ' + 'knockout'"></h1><ul data-bind="foreach: items"><li data-bind="text: $data"></li></ul>
<script src=/npm/knockout/build/output/knockout-latest.js></script><script>ko.applyBindings({items: ITEMS})</script>""",
    "backbone": APP + """<script src=/npm/jquery/dist/jquery.min.js></script><script src=/npm/underscore/underscore-umd-min.js></script>
<script src=/npm/backbone/backbone-min.js></script><script>const Shop = Backbone.Collection.extend({url: '/api/items',
  parse: all => all.map(name => ({name}))}); const shop = new Shop(); new (Backbone.View.extend({el: '#app',
  template: _.template('<h1>made by backbone</h1><ul><% names.forEach(n => { %><li><%- n %></li><% }) %></ul>'),
  initialize() { this.listenTo(shop, 'sync', () => this.$el.html(this.template({names: shop.pluck('name')}))) } }));
shop.fetch();</script>""",
    "jquery": APP + """<script src=/npm/jquery/dist/jquery.min.js></script><script>
$(() => $('#app').load('/fragment', () => $('h1').text('made by ' + 'jquery')));</script>""",
    "handlebars": APP + """<script src=/npm/handlebars/dist/handlebars.min.js></script>
<script type=text/x-handlebars id=t><h1>made by {{name}}</h1><ul>{{#each items}}<li>{{this}}</li>{{/each}}</ul></script>
<script>app.innerHTML = Handlebars.compile(t.innerHTML)({name: 'handlebars', items: ITEMS})</script>""",
    "mustache": APP + """<template id=t><p>made by {{name}}</p><ul>{{#items}}<b>{{.}}</b>{{/items}}</ul></template>
<script src=/npm/mustache/mustache.min.js></script><script>
app.innerHTML = Mustache.render(t.innerHTML.replaceAll('p>', 'h1>').replaceAll('b>', 'li>'), {name: 'mustache', items: ITEMS})</script>""",
    "ejs": APP + """<script src=/npm/ejs/ejs.min.js></script><script>
app.innerHTML = ejs.render('<h1>made by ejs</h1><ul><% for (const i of items) { %><li><%= i %></li><% } %></ul>', {items: ITEMS})</script>""",
    "inferno": APP + """<script src=/npm/inferno/dist/inferno.min.js></script><script>const {createVNode, createTextVNode, render} = Inferno;
const h = (tag, ...of) => createVNode(1, tag, null, of.map(c => typeof c === 'string' ? createTextVNode(c) : c), 4);
render(h('main', h('h1', 'made by inferno'), h('ul', ...ITEMS.map(i => h('li', i)))), app);</script>""",
    "riot": APP + """<x-shop></x-shop><script src=/npm/riot/riot+compiler.min.js></script><script>riot.inject(riot.compileFromString(
  `<x-shop><h1>made by { state.name }</h1><ul><li each={ i in state.items }>{ i }</li></ul>
   <${'script'}>export default {state: {name: 'riot', items: ITEMS}}</${'script'}></x-shop>`).code, 'x-shop');
riot.mount('x-shop');</script>""",
    "hyperapp": APP + """<script type=module>import {app as run, h, text} from '/npm/hyperapp/index.js';
run({init: {items: ITEMS}, view: ({items}) => h('main', {}, [h('h1', {}, text('made by hyperapp')),
  h('ul', {}, items.map(i => h('li', {}, text(i))))]), node: app});</script>""",
    "van": APP + """<script type=module>import van from '/npm/vanjs-core/src/van.js'; const {h1, li, ul} = van.tags;
const items = van.state([]); van.add(app, h1('made by van'), () => ul(items.val.map(i => li(i)))); items.val = ITEMS;</script>""",
    "d3": APP + """<script src=/npm/d3-selection/dist/d3-selection.min.js></script><script>d3.select('#app').append('h1').text('made by d3');
d3.select('#app').append('ul').selectAll('li').data(ITEMS).join('li').text(i => i);</script>""",
    "marked": APP + """<script src=/npm/marked/lib/marked.umd.js></script><script>
app.innerHTML = marked.parse('# made by marked\\n\\n' + ITEMS.map(i => '* ' + i).join('\\n'))</script>""",
}

# What browsers have of their own, and what sites do with it.
BARE = {
    "closed": APP + """<x-shop></x-shop><script>document.querySelector('x-shop').attachShadow({mode: 'closed'}).innerHTML =
  '<h1>made by closed</h1><ul>' + ITEMS.map(i => `<li>${i}</li>`).join('') + '</ul>';</script>""",
    "slots": APP + """<script>customElements.define('x-card', class extends HTMLElement { constructor() { super();
  this.attachShadow({mode: 'open'}).innerHTML = '<header><slot name=title></slot></header><slot></slot>'; } });
app.innerHTML = '<x-card><h1 slot=title>made by slots</h1><ul></ul></x-card>';
document.querySelector('ul').append(...ITEMS.map(i => Object.assign(document.createElement('li'), {textContent: i})));</script>""",
    "declared": f"<!DOCTYPE html><html><body><x-shop><template shadowrootmode=open><h1>made by declared</h1><ul>{LIST}</ul></template></x-shop>",
    "iframe": APP + "<script>app.innerHTML = '<iframe src=/mithril></iframe>'</script>",
    "srcdoc": APP + """<script>app.innerHTML = '<iframe></iframe>'; document.querySelector('iframe').srcdoc =
`<h1>made by srcdoc</h1><ul></ul><${'script'}>fetch('/api/items').then(r => r.json()).then(all => {
  document.querySelector('ul').innerHTML = all.map(i => '<li>' + i + '</li>').join('') })</${'script'}>`;</script>""",
    "deep": APP + """<script>const root = app.attachShadow({mode: 'closed'}), frame = document.createElement('iframe');
frame.src = '/closed'; root.append(frame);</script>""",
    "redirect": "<!DOCTYPE html><script>location.replace('/vue')</script>",
    "refresh": "<!DOCTYPE html><html><meta http-equiv=Refresh content='0; url=/mithril'><body></body></html>",
    "posted": """<!DOCTYPE html><html><body><form method=post action=/receive><input type=hidden name=q value=1></form>
<script>document.forms[0].submit()</script>""",
    "push_state": APP + SHOW + "<script>history.pushState({}, '', '/push_state/shop'); show(location.pathname.split('/')[1], ITEMS)</script>",
    "chain": APP + """<script>app.innerHTML = '<h1>made by chain</h1><ul></ul>'; const more = async n => {
  const items = await (await fetch('/api/items?from=' + n)).json();
  document.querySelector('ul').innerHTML += `<li>${items[n]}</li>`; if (n < 2) more(n + 1) }; more(0);</script>""",
    "late": APP + SHOW + "<script src=/late.js></script>",
    "api": APP + SHOW + """<script>fetch('/api/query', {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Shop': 'a'},
  body: JSON.stringify({from: 0})}).then(r => r.json()).then(all => show('api', all))</script>""",
    "jsonp": APP + SHOW + """<script>const got = all => show('jsonp', all);
document.head.append(Object.assign(document.createElement('script'), {src: '/jsonp.js?callback=got'}))</script>""",
    "lines": APP + SHOW + """<script>(async () => { const reader = (await fetch('/api/lines')).body.pipeThrough(new TextDecoderStream()).getReader();
let text = ''; for (let at; !(at = await reader.read()).done;) text += at.value; show('lines', text.trim().split('\\n').map(JSON.parse)) })();</script>""",
    "event_source": APP + SHOW + """<script>const all = [], source = new EventSource('/api/events');
source.onmessage = ({data}) => { all.push(data); if (all.length === 3) show('event_source', all) };</script>""",
    "module": APP + SHOW + "<script>import('/npm/preact/dist/preact.mjs').then(({h}) => show('module', ITEMS.map(i => h('li', null, i).props.children)))</script>",
    "worker": APP + SHOW + """<script>new Worker(URL.createObjectURL(new Blob(['postMessage(' + JSON.stringify(ITEMS) + ')'])))
  .onmessage = ({data}) => show('worker', data);</script>""",
    "wasm": APP + SHOW + """<script>WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 110,
  0, 0, 10, 6, 1, 4, 0, 65, 3, 11])).then(({instance}) => show('wasm', ITEMS.slice(0, instance.exports.n())))</script>""",
    "canvas": APP + """<canvas role=img><h1></h1><ul></ul></canvas><script>const canvas = document.querySelector('canvas');
canvas.getContext('2d').fillText('shop', 10, 10); canvas.querySelector('h1').textContent = 'made by ' + 'canvas';
canvas.querySelector('ul').innerHTML = ITEMS.map(i => `<li>${i}</li>`).join('')</script>""",
    "written": APP + "<script>document.write('<h1>made by written</h1><ul>' + ITEMS.map(i => '<li>' + i + '</li>').join('') + '</ul>')</script>",
    "cookie_wall": """<!DOCTYPE html><script>document.cookie = 'seen=1'; location.reload()</script>""",
    "streamed": APP,  # and more, a moment later
    "infinite": APP + """<style>li { height: 40vh }</style><h1></h1><ul></ul><p id=end>.</p><script>
document.querySelector('h1').textContent = 'made by ' + 'infinite'; let n = 0;
new IntersectionObserver(async (seen, observer) => { if (!seen.at(-1).isIntersecting) return; observer.disconnect();
  const all = await (await fetch('/api/items?from=' + n)).json();
  document.querySelector('ul').innerHTML += `<li>${all[n++ % 3]}</li>`; observer.observe(end) }).observe(end);</script>""",
    "lazy_images": APP + """<script>app.innerHTML = '<h1>made by lazy_images</h1>' + ITEMS.map(i => `<p><img data-src=/dot.gif?${i} alt=${i}></p>`).join('');
const observer = new IntersectionObserver(all => all.filter(e => e.isIntersecting).forEach(({target}) => { observer.unobserve(target);
  target.onload = () => { const li = document.createElement('li'); li.textContent = target.alt; target.parentNode.replaceWith(li) };
  target.src = target.dataset.src }));
document.querySelectorAll('img').forEach(image => observer.observe(image));</script>""",
    "consent": APP + SHOW + """<dialog><h2>Cookies</h2><button>Accept</button></dialog><script>document.querySelector('dialog').showModal();
app.inert = true; fetch('/api/items').then(r => r.json()).then(all => show('consent', all))</script>""",
    "login": APP + """<script>fetch('/api/csrf').then(r => r.json()).then(({token}) => { app.innerHTML = `<h1>made by login</h1>
<form method=post action=/session><input type=hidden name=token value=${token}><input name=user><input type=password name=password>
<button>Log in</button></form><ul>${ITEMS.map(i => `<li>${i}</li>`).join('')}</ul>` })</script>""",
    "charset": """<!DOCTYPE html><html><head><meta charset=windows-1251></head><body><div id=app data-of="\u0447\u0430\u0439,\u043a\u043e\u0444\u0435"></div>
""" + SHOW + "<script>show('charset', app.dataset.of.split(','))</script>",
    "xhtml": """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>shop</title></head><body><div id="app"/>
<script src="/xhtml.js"/></body></html>""",
}

# What no browser can know to wait for, and the selector that a monitor waits for.
# What is quiet for longer than a page that is read: a process is started first, or nothing is fetched for a while.
WAITS = {
    "service_worker": ("li", APP + SHOW + """<script>(async () => { const {serviceWorker} = navigator; await serviceWorker.register('/service.js');
if (!serviceWorker.controller) await new Promise(then => serviceWorker.addEventListener('controllerchange', then));
show('service_worker', await (await fetch('/api/of_the_worker')).json()) })();</script>"""),
    "hydration": ("li", """<!DOCTYPE html><html><head><title>shop</title></head><body><div id=app><h1>Loading</h1></div>
<script src=/npm/react/umd/react.production.min.js></script><script src=/npm/react-dom/umd/react-dom.production.min.js></script><script>
const e = React.createElement, App = () => { const [items, set] = React.useState(null); React.useEffect(() => set(ITEMS), []);
  return items ? e('main', null, e('h1', null, 'made by hydration'), e('ul', null, items.map(i => e('li', {key: i}, i)))) : e('h1', null, 'Loading') };
setTimeout(() => ReactDOM.hydrateRoot(app, e(App)), 3000);</script>"""),
    "polling": ("li", APP + SHOW + """<script>let n = 0; setInterval(() => fetch('/api/items').then(r => r.json()).then(all => {
  if (++n === 3) show('polling', all) }), 100)</script>"""),
}

PAGES = FRAMEWORKS | BARE | {name: page for name, (_, page) in WAITS.items()}
PATH_OF = {"hash_router": "/hash_router#/shop"}
TITLE_OF = {"iframe": "mithril", "deep": "closed", "redirect": "vue", "refresh": "mithril", "posted": "receive"}
ITEMS_OF = {"charset": ["\u0447\u0430\u0439", "\u043a\u043e\u0444\u0435"]}

SCRIPTS = {
    "/late.js": "show('late', ITEMS)",
    "/jsonp.js": f"got({json.dumps(ITEMS)})",
    "/xhtml.js": "document.getElementById('app').innerHTML = '<h1>made by xhtml</h1><ul>" + LIST + "</ul>'",
    "/service.js": "oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim());"
                   "onfetch = e => { if (e.request.url.endsWith('/api/of_the_worker'))"
                   f" e.respondWith(new Response({json.dumps(json.dumps(ITEMS))})) }}",
}
DOT = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
FRAGMENT = f"<h1>made by {{}}</h1><ul>{LIST}</ul>"
TOKEN = "of-the-form"
JAVASCRIPT = "text/javascript; charset=utf-8"


def expected(name):
    """What `title` (css:h1) and `items` (css:li | all) of a page are."""
    return {"title": f"made by {TITLE_OF.get(name, name)}",
            "items": json.dumps(ITEMS_OF.get(name, ITEMS), separators=(",", ":"), ensure_ascii=False)}


def node_modules():
    """The folder of what npm gave, and that of what was built of it, once for each state of its sources."""
    home = npm_tools("tests/pages")
    pages = ROOT / "tests/pages"
    sources = [pages / "build.mjs", pages / "package-lock.json", *sorted((pages / "src").iterdir())]
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    built = home / f"built-{state}"
    if not built.exists():
        for old in home.glob("built-*"):
            shutil.rmtree(old)
        making = home / "making"
        subprocess.run(["node", pages / "build.mjs", home, making], check=True, timeout=300)
        making.rename(built)
    return home / "node_modules", built


class Handler(QuietHandler):
    modules = built = None
    more = {}  # by path: the arguments of `answer`

    def page(self, name):
        text = PAGES.get(name, "").replace("<head>", f"<head><script>const ITEMS = {json.dumps(ITEMS)};</script>")
        if name == "cookie_wall" and "seen=1" in self.headers.get("Cookie", ""):
            return FRAGMENT.format(name)
        return text

    def answer(self, body, kind="text/html", status=200, **headers):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def in_pieces(self, kind, pieces):
        """Each piece when it is made, to the end of the connection."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece.encode())
            self.wfile.flush()

    def do_GET(self):
        path = self.path.split("?")[0]
        name = path.split("/")[1]
        if path.startswith(("/npm/", "/built/")):
            folder = self.modules if name == "npm" else self.built
            return self.answer((folder / path.split("/", 2)[2]).read_bytes(), JAVASCRIPT)
        if path in self.more:
            return self.answer(*self.more[path])
        if path in SCRIPTS:
            if path == "/late.js":
                time.sleep(3)  # a slow network: the page is not quiet before
            return self.answer(SCRIPTS[path], JAVASCRIPT)
        if path.startswith("/api/"):
            return self.api(path)
        if path == "/dot.gif":
            return self.answer(DOT, "image/gif")
        if path == "/fragment":
            return self.answer(FRAGMENT.format({"stimulus": "stimulus"}.get(self.asking(), "htmx")))
        if path == "/turbo_frame":
            return self.answer(f"<turbo-frame id=shop>{FRAGMENT.format('turbo')}</turbo-frame>")
        if path == "/members" and "session=" not in self.headers.get("Cookie", ""):
            return self.answer("", status=302, Location="/login?next=/members")
        if name == "streamed":
            return self.in_pieces("text/html", [self.page(name), f"<template id=t>{FRAGMENT.format(name)}</template>",
                                                "<script>app.replaceChildren(t.content)</script>"])
        page = self.page(name)
        if name == "charset":
            return self.answer(page.encode("windows-1251"))
        return self.answer(page, "application/xhtml+xml" if name == "xhtml" else "text/html", 200 if page else 404)

    def asking(self):
        return self.headers.get("Referer", "").rsplit("/", 1)[-1]

    def api(self, path):
        if path == "/api/items":
            return self.answer(json.dumps(ITEMS), "application/json")
        if path == "/api/csrf":
            return self.answer(json.dumps({"token": TOKEN}), "application/json", **{"Set-Cookie": f"csrf={TOKEN}; HttpOnly"})
        if path == "/api/lines":
            return self.in_pieces("application/x-ndjson", [json.dumps(item) + "\n" for item in ITEMS])
        if path == "/api/events":
            self.in_pieces("text/event-stream", [f"data: {item}\n\n" for item in ITEMS])
            return self.rfile.read()  # open until the page goes
        return self.answer("", status=404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.path == "/api/query" and self.headers.get("X-Shop") and json.loads(body) == {"from": 0}:
            return self.answer(json.dumps(ITEMS), "application/json")
        if self.path == "/receive" and body == "q=1":
            return self.answer(FRAGMENT.format("receive"))
        if self.path == "/session" and f"token={TOKEN}" in body and f"csrf={TOKEN}" in self.headers.get("Cookie", ""):
            return self.answer("", status=303, Location="/members", **{"Set-Cookie": "session=1; HttpOnly"})
        return self.answer("", status=403)


# Frameworks whose sites are built to be served as files, of tests/exported: how, and the folder that then has the files.
EXPORTED = {
    "next": (["next", "build"], "out"),
    "nuxt": (["nuxt", "generate"], ".output/public"),
    "sveltekit": (["vite", "build"], "build"),
}


def exported(name):
    """Builds the site again and gives its folder."""
    home = npm_tools("tests/exported")
    project, (command, output) = home / name, EXPORTED[name]
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(ROOT / "tests/exported" / name, project)
    done = subprocess.run([home / "node_modules/.bin" / command[0], *command[1:]], cwd=project, capture_output=True, text=True,
                          timeout=900, env={"PATH": f"{home}/node_modules/.bin:/usr/bin:/bin", "HOME": str(project), "CI": "1", "NEXT_TELEMETRY_DISABLED": "1",
                                            "NUXT_TELEMETRY_DISABLED": "1"})
    assert done.returncode == 0, f"{name}: {(done.stdout + done.stderr)[-3000:]}"
    return project / output


def files_of(folder):
    """A handler that serves the folder, beside the API of the pages."""
    class Files(QuietHandler, http.server.SimpleHTTPRequestHandler):
        def __init__(self, *of):
            super().__init__(*of, directory=folder)

        def do_GET(self):
            if self.path != "/api/items":
                return super().do_GET()
            body = json.dumps(ITEMS).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    return Files


class Site:
    """The pages on one address of loopback, or on many: a host each, of which nothing is known before it is asked."""

    def __init__(self, handler=Handler):
        handler.modules, handler.built = node_modules()
        self.handler, self.servers = handler, []
        self.url = self.on("127.0.0.1")

    def on(self, host, handler=None):
        server = http.server.ThreadingHTTPServer((host, 0), handler or self.handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.servers.append(server)
        return f"http://{host}:{server.server_address[1]}"

    def own(self, number, name):
        """The address of a page on a host of its own."""
        return self.on(f"127.0.1.{number}") + PATH_OF.get(name, f"/{name}")

    def close(self):
        with concurrent.futures.ThreadPoolExecutor(len(self.servers)) as pool:
            list(pool.map(lambda server: server.shutdown(), self.servers))
        for server in self.servers:
            server.server_close()
