// Building the page. Text goes in as text nodes and nothing is ever parsed as HTML: what is shown was
// written by pages, receivers and tenants.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

// An element; attributes whose value is a function are event listeners.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Makes `children` the contents of `element`; as with h, what is false or missing is left out. Who was at something in it is at
// what is like it now.
export function replace(element, ...children) {
  const restore = places(element);
  element.replaceChildren();
  fill(element, null, children);
  restore(element);
}

// Finds again in another view what has the focus now, or what it stands in, and where tables are scrolled to.
export function places(old) {
  const active = document.activeElement;
  const name = e => e.getAttribute('href') ?? e.getAttribute('aria-label') ?? e.textContent;
  const alike = view => [...view.querySelectorAll(active.localName)].filter(e => name(e) === name(active));
  const nth = old !== active && old.contains(active) ? alike(old).indexOf(active) : -1;
  const scrolled = [...old.querySelectorAll('.scroll')].map(e => [name(e), e.scrollLeft]).filter(([, left]) => left > 0);
  return view => {
    for (const e of view.querySelectorAll('.scroll')) e.scrollLeft = scrolled.find(([n]) => n === name(e))?.[1] ?? 0;
    if (nth >= 0) (alike(view)[nth] ?? view.closest('[tabindex]'))?.focus({preventScroll: true});
  };
}

// A table that scrolls by itself. `columns`: [title, item => cell, class?]; a cell is text or a node.
export function table(caption, columns, items, empty = 'None.') {
  if (items.length === 0) return h('p', {class: 'empty'}, empty);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    h('table', null,
      h('caption', null, caption),
      h('thead', null, h('tr', null, columns.map(([title, , kind]) => h('th', {scope: 'col', class: kind}, title)))),
      h('tbody', null, items.map(item =>
        // On a phone a row is a card, where each cell says which column it is.
        h('tr', null, columns.map(([title, cell, kind]) => h('td', {class: kind, 'data-column': title}, cell(item))))))));
}

// Whether a form in `element` has been filled in that was not sent yet.
export function edited(element) {
  const begins = select => Math.max(0, [...select.options].findIndex(option => option.defaultSelected));
  return [...element.querySelectorAll('form :is(input, select, textarea)')].some(
    e => e.localName === 'select' ? e.selectedIndex !== begins(e) : e.value !== e.defaultValue || e.checked !== e.defaultChecked);
}

// Does what a click on `button` asks for, once at a time. The button keeps the focus, as one that is disabled does not.
export async function oneAtATime(button, work) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  try {
    await work();
  } finally {
    button.removeAttribute('aria-busy');
  }
}

// A button that copies a text; `label` says which.
export function copyButton(text, label) {
  const button = h('button', {type: 'button', class: 'copy', 'aria-label': label, click: async () => {
    await copy(text);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  }}, 'Copy');
  return button;
}

// An id, or another text that is taken elsewhere, with a button that copies it.
export function copyable(text) {
  return h('span', {class: 'copyable'}, h('code', null, text), ' ', copyButton(text, `Copy ${text}`));
}

// The clipboard's own interface is there on loopback and over https alone, and may be refused.
async function copy(text) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    copyAsBefore(text);
  }
}

function copyAsBefore(text) {
  const area = h('textarea', {readonly: true}, text);
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

// An address that a stranger gave: a link only where it is one of the web.
export function link(url) {
  return /^https?:\/\//i.test(url) ? h('a', {href: url, rel: 'noreferrer noopener', target: '_blank'}, url) : h('bdi', null, url);
}

// Pairs of a term and its description.
export function facts(pairs) {
  return h('dl', null, pairs.map(([term, value]) => [h('dt', null, term), h('dd', null, value)]));
}

export function badge(text, kind) {
  return h('span', {class: `badge ${kind}`}, text);
}

const TIMES = 'vedette-times';

// Whether times are shown as they are instead of as how long ago: the operator's choice, which the browser keeps.
export const exactTimes = {
  get: () => localStorage.getItem(TIMES) === 'exact',
  set(on) {
    if (on) localStorage.setItem(TIMES, 'exact');
    else localStorage.removeItem(TIMES);
    renewTimes();
  },
};

// "2026-11-21 09:30:00 UTC"
const exact = text => text.replace(/^(.{10})T(.{8})(\.\d+)?Z$/, '$1 $2 UTC');

const timeText = text => exactTimes.get() ? exact(text) : relative(new Date(text) - Date.now());

// "3 min ago", "in 2 h", or the exact time, which is the title in any case.
export function when(text) {
  if (!text) return '–';
  return h('time', {datetime: text, title: text}, timeText(text));
}

// How long ago goes on while a page is looked at.
export function renewTimes() {
  for (const time of document.querySelectorAll('time')) {
    const text = timeText(time.getAttribute('datetime'));
    if (time.textContent !== text) time.textContent = text;
  }
}

// The time itself, to the second, beside how long ago it was.
export function exactly(text) {
  return text ? [when(text), h('span', {class: 'note exactly'}, ` ${exact(text)}`)] : '–';
}

export function relative(ms) {
  const ahead = ms > 0;
  const words = duration(Math.abs(ms));
  return ahead ? `in ${words}` : `${words} ago`;
}

export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  const seconds = ms / 1000;
  if (seconds < 1) return `${Math.round(ms)} ms`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

export function number(n) {
  return n === null || n === undefined ? '–' : n.toLocaleString('en', {maximumFractionDigits: 20});
}

// A value of any type as people read it; text as it is.
export function value(v) {
  if (v === null || v === undefined) return h('span', {class: 'none'}, 'none');
  return h('bdi', null, typeof v === 'string' ? v : JSON.stringify(v));
}

export function statusBadge(status) {
  const kinds = {active: 'good', starting: 'warn', paused: 'warn', failed: 'bad', cancelled: 'off',
                 pending: 'warn', dead: 'bad', delivered: 'good', queued: 'warn', running: 'good', completed: 'good',
                 terminated: 'off', timed_out: 'bad'};
  return badge(status, kinds[status] ?? 'off');
}
