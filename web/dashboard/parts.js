// What several pages have: lists with a next page, forms, a chart of bars, and secrets that are shown once.

import {ask, query} from './api.js';
import {copyButton, h, number, replace, svg, table} from './dom.js';

// Tells people who cannot see the page what has become of their click, too.
export function say(text) {
  document.getElementById('said').textContent = text;
}

// A list that is read page by page: `path` with its filter, the `name` of its array, and columns as `table` takes them.
export async function list({path, filter = {}, name, caption, columns, empty}) {
  const items = [];
  const box = h('div');
  const more = h('button', {type: 'button', click: () => guarded(read)}, 'More');
  let cursor = null;
  async function read() {
    const page = await ask('GET', path + query({...filter, limit: 50, cursor}));
    items.push(...page[name]);
    cursor = page.next_cursor ?? null;
    replace(box, table(caption, columns, items, empty), cursor && more);
  }
  await read();
  return box;
}

// Runs what a click asks for, and says what went wrong.
export async function guarded(work) {
  try {
    await work();
  } catch (e) {
    say(e.message);
  }
}

export function button(text, work, kind) {
  const self = h('button', {type: 'button', class: kind, click: async () => {
    self.disabled = true;
    await guarded(work);
    self.disabled = false;
  }}, text);
  return self;
}

// A button that asks once more: the second click does it.
export function sureButton(text, sure, work) {
  let asked = false;
  const self = button(text, async () => {
    if (asked) return work();
    asked = true;
    self.textContent = sure;
    self.classList.add('danger');
  }, 'final');
  return self;
}

let fields = 0;

// A field with its label, a note and a place for what is wrong with it.
export function field(label, input, note) {
  const id = `field-${++fields}`;
  input.id = id;
  if (note) input.setAttribute('aria-describedby', `${id}-note`);
  return h('p', null, h('label', {for: id}, label), input, note && h('span', {id: `${id}-note`, class: 'note'}, note));
}

// A form whose button runs `work`; what is refused stands above the button.
export function form(children, submit, work) {
  const wrong = h('p', {class: 'bad', role: 'alert'});
  const go = h('button', {type: 'submit', class: 'primary'}, submit);
  return h('form', {class: 'form', submit: async event => {
    event.preventDefault();
    go.disabled = true;
    wrong.textContent = '';
    try {
      await work();
    } catch (e) {
      wrong.textContent = e.message;
    }
    go.disabled = false;
  }}, children, wrong, h('p', null, go));
}

// A secret that is shown in this answer alone.
export function once(title, text, after) {
  return h('div', {class: 'once', role: 'alert'}, h('h3', null, title), h('p', null, h('code', null, text), ' ', copyButton(text, 'Copy it')),
    h('p', {class: 'note'}, 'It is not shown again.'), after);
}

const [WIDTH, HEIGHT, FOOT] = [720, 180, 18];

// Bars with their labels, `bars`: [[label, figure]]. The same figures stand in a table for those who cannot see them.
export function barChart(title, unit, bars) {
  const most = Math.max(...bars.map(([, figure]) => figure), 0);
  const step = WIDTH / Math.max(bars.length, 1);
  const every = Math.ceil(bars.length / 10);
  return h('figure', {class: 'chart'}, h('h3', null, title),
    svg('svg', {class: 'bars', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
                'aria-label': `${title}: at most ${number(most)} ${unit}`},
      bars.map(([label, figure], i) => {
        const height = most === 0 ? 0 : figure / most * (HEIGHT - FOOT - 14);
        return [
          svg('rect', {x: i * step + 1, y: HEIGHT - FOOT - height, width: Math.max(step - 2, 1), height},
            svg('title', null, `${label}: ${number(figure)} ${unit}`)),
          i % every === 0 && svg('text', {x: i * step + 1, y: HEIGHT - 4}, label),
        ];
      })),
    h('figcaption', {class: 'note'}, `The highest is ${number(most)} ${unit}.`));
}

export function tagList(tags) {
  return tags.length === 0 ? '–' : h('ul', {class: 'tags'}, tags.map(tag => h('li', null, tag)));
}
