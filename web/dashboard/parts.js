// What several pages have: lists with a next page, forms, and secrets that are shown once.

import {askAside, askPage, query, readFile} from './api.js';
import {copyButton, h, oneAtATime, replace, table} from './dom.js';

const TIMES_SHOWN = 3;
const TIMES_AFTER_MS = 300;  // since the last key
const FILE_KEPT_MS = 60000;  // until the browser has begun to write it

// Tells people who cannot see the page what has become of their click, too. It stays until the next click, or another page.
export function say(...text) {
  replace(document.getElementById('said'), text);
}

// Goes to another page, which says `text`.
export function goOn(hash, text) {
  addEventListener('hashchange', () => say(text), {once: true});
  location.hash = hash;
}

// A name that shows something, or the id in its place.
export const nameOf = ({id, name}) => /^[\s\p{C}]*$/u.test(name) ? id : name;

// Hands the browser a file to keep.
export function keep(blob, name) {
  const url = URL.createObjectURL(blob);
  h('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), FILE_KEPT_MS);
}

// A button that reads a file as everything else is read, which a link does not, and keeps it.
export const fileButton = (text, path, name) => button(text, async () => keep(await readFile(path), name));

// What is read page by page: `path` with its filter and the `name` of its array, where the answer has one; `show` makes a node of all that was read.
export async function pages({path, filter = {}, name = 'items', show}) {
  const items = [];
  const box = h('div', {tabindex: -1});
  const more = h('p', null, button('More', read));
  let cursor = null;
  async function read() {
    const page = await askPage(path + query({limit: 50, ...filter, cursor}));
    items.push(...page[name]);
    cursor = page.next_cursor ?? null;
    replace(box, show(items), cursor && more);
  }
  await read();
  return box;
}

// A list as a table, with columns as `table` takes them.
export const list = ({caption, columns, empty, ...read}) => pages({...read, show: items => table(caption, columns, items, empty)});

// Shows the page again, as what it shows was changed.
export const again = () => dispatchEvent(new HashChangeEvent('hashchange'));

// Runs what a click asks for, and says what went wrong.
export async function guarded(work) {
  try {
    await work();
  } catch (e) {
    say(e.message);
  }
}

// What `work` makes, or why it was refused: for what stands below the form of a filter, which stays.
export async function orWhy(work) {
  try {
    return await work();
  } catch (e) {
    return h('p', {class: 'bad', role: 'alert'}, e.message);
  }
}

export function button(text, work, kind) {
  const self = h('button', {type: 'button', class: kind, click: () => oneAtATime(self, () => {
    say('');  // of the click before
    return guarded(work);
  })}, text);
  return self;
}

// A button that asks once more: the second click does it. Who goes on elsewhere is asked again.
export function sureButton(text, sure, work) {
  let asked = false;
  const ask = now => {
    asked = now;
    self.textContent = now ? sure : text;
    self.classList.toggle('danger', now);
  };
  const self = button(text, async () => {
    if (!asked) return ask(true);
    await work();
    ask(false);
  }, 'final');
  self.addEventListener('blur', () => ask(false));
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

// The fields of when something comes: how often, or by the clock of a zone, whose next times are shown as one types. `given` is a
// monitor or a schedule as the API shows it. Several expressions of cron stand with semicolons.
export function timing(label, {frequency = '', cron, time_zone: zoneOf} = {}) {
  const when = h('input', {required: true, placeholder: '6h or 0 9 * * 1-5', value: cron ? [cron].flat().join('; ') : frequency});
  const zone = h('input', {value: zoneOf ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC'});
  const shown = h('div', {'aria-live': 'polite'});
  const clock = () => {
    const crons = when.value.split(';').map(one => one.trim()).filter(one => one !== '');
    return crons.some(one => /[\s@]/.test(one))
      ? {cron: crons.length === 1 ? crons[0] : crons, time_zone: zone.value.trim() || 'UTC'} : null;
  };
  let waits = null;
  let asked = 0;
  async function look() {
    const turn = ++asked;
    const schedule = clock();
    let content = [];
    if (schedule) {
      try {
        const {times, clock_changes: changes} = await askAside('POST', '/schedules/preview', {...schedule, count: TIMES_SHOWN});
        content = [`Next by UTC: ${times.map(at => at.slice(0, 16).replace('T', ' ')).join(' · ')}`, ...changes.map(c => c.effect)];
      } catch (e) {
        content = [e.message];
      }
    }
    if (turn === asked) replace(shown, content.map(text => h('p', {class: 'note'}, text)));
  }
  for (const input of [when, zone]) input.addEventListener('input', () => {
    clearTimeout(waits);
    waits = setTimeout(look, TIMES_AFTER_MS);
  });
  return {
    fields: [field(label, when, 'How often, such as 6h; or five fields of cron, such as 0 9 * * 1-5'), field('Time zone', zone, 'Of the fields of cron'), shown],
    clock,  // null: it goes by frequency()
    frequency: () => when.value.trim(),
  };
}

// Boxes to choose several of, `options`: [[value, label]]. Nothing is shown where there are none.
export function checks(title, options, chosen) {
  const boxes = options.map(([value, label]) => [h('input', {type: 'checkbox', value, checked: chosen.includes(value)}), label]);
  return {
    element: boxes.length > 0 && h('fieldset', {class: 'choices'}, h('legend', null, title),
      boxes.map(([box, label]) => h('label', null, box, ' ', label))),
    chosen: () => boxes.filter(([box]) => box.checked).map(([box]) => box.value),
  };
}

// A form whose button runs `work`; what is refused stands above the button.
export function form(children, submit, work) {
  const wrong = h('p', {class: 'bad', role: 'alert'});
  const go = h('button', {type: 'submit', class: 'primary'}, submit);
  const submitted = async () => {
    wrong.textContent = '';
    say('');  // of what was done before
    try {
      await work();
    } catch (e) {
      wrong.textContent = e.message;
    }
  };
  return h('form', {class: 'form', submit: event => {
    event.preventDefault();
    oneAtATime(go, submitted);
  }}, children, wrong, h('p', null, go));
}

// A secret that is shown in this answer alone.
export function once(title, text, after) {
  return h('div', {class: 'once', role: 'alert'}, h('h3', null, title), h('p', null, h('code', null, text), ' ', copyButton(text, 'Copy it')),
    h('p', {class: 'note'}, 'It is not shown again.'), after);
}

// A page that shows secrets once: `content(made, read)` is what stands under the last one. It is read again where `made` is given a
// secret and by `read`, as what it lists has changed by then, and the secret stays.
export async function withSecrets(title, content) {
  const shown = h('div');
  const under = h('div');
  const made = async secret => {
    replace(shown, secret);
    await read();
    shown.querySelector('button')?.focus();
  };
  const read = async () => replace(under, await orWhy(() => content(made, read)));
  await read();
  return h('div', null, h('h2', null, title), shown, under);
}

export function tagList(tags) {
  return tags.length === 0 ? '–' : h('ul', {class: 'tags'}, tags.map(tag => h('li', null, tag)));
}
