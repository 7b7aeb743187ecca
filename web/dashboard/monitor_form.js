// Making and changing a monitor. What its fields would read is tried on the first rows as one types.

import {ask, askAside, readMonitor} from './api.js';
import {h, replace, value} from './dom.js';
import {button, checks, field, form, goOn, nameOf, timing} from './parts.js';
import {lines, structOf, structText, tagsOf, tagsText} from './monitor_text.js';
import {pickerOf} from './picker.js';
import {probeFields} from './probe_fields.js';

const TRY_AFTER_MS = 800;  // since the last key
const TRY_ROWS = 3;

function area(text, label) {
  const element = h('textarea', {spellcheck: 'false', 'aria-label': label});
  element.value = text ?? '';
  return element;
}

// What the first rows show, or why they show nothing.
function seenRows(seen) {
  return [seen.warnings.map(text => h('p', {class: 'note'}, text)), seen.rows.map(row => h('div', {class: 'tile'},
    h('h3', null, Object.values(row.subject).join(' ')),
    row.error && h('p', {class: 'bad'}, row.error),
    h('dl', null, Object.entries(row.observed).map(([name, seen]) => [h('dt', null, name), h('dd', null, value(seen.value))]),
      Object.entries(row.unread).map(([name, why]) => [h('dt', null, name), h('dd', {class: 'bad'}, why)]))))];
}

// Tries what `body` gives, a moment after each change of `inputs`; the newest answer counts.
function tryAsTyped(inputs, body) {
  const shown = h('div', {'aria-live': 'polite', class: 'tiles'});
  let waits = null;
  let asked = 0;
  async function look() {
    const turn = ++asked;
    let content;
    try {
      const order = body();
      if (order === null) return;
      content = seenRows(await askAside('POST', '/monitors/preview', order));
    } catch (e) {
      content = h('p', {class: 'note'}, e.message);
    }
    if (turn === asked) replace(shown, content);
  }
  for (const input of inputs) input.addEventListener('input', () => {
    clearTimeout(waits);
    waits = setTimeout(look, TRY_AFTER_MS);
  });
  return h('section', {'aria-label': 'Preview'}, h('h3', null, 'What it would see now'), shown);
}

// Makes a field of what one picks in the picture of the first row's page. `body(struct)`: what would be previewed.
function pickOnPage(struct, body) {
  const shown = h('div');
  return h('section', {'aria-label': 'Picker'}, h('p', null, button('Pick on the page', async () => {
    const order = body({title: 'meta:title', ...structOf(struct.value)});
    if (order === null) throw new Error('Name a row first, whose page is to be shown.');
    replace(shown, await pickerOf(await ask('POST', '/monitors/preview', {...order, screenshot: true}), struct));
  })), shown);
}

function sharedFields(m, channels) {
  const struct = area(m && structText(m.watched));
  return {
    name: h('input', {required: true, maxlength: 200, value: m?.name ?? ''}),
    struct,
    probe: probeFields(m?.probe),
    when: timing('Every', {frequency: m?.frequency ?? '1d', ...m?.schedule}),
    tags: h('input', {value: m ? tagsText(m.tags) : ''}),
    webhook: h('input', {type: 'url', value: m?.webhook_url ?? ''}),
    channels: checks('Channels that are told, too', channels.map(c => [c.id, [h('bdi', null, c.name), ` (${c.kind})`]]), m?.channel_ids ?? []),
  };
}

// A monitor that goes by the clock already keeps what the fields do not show.
const timesOf = (when, before) => when.clock() ? {schedule: {...before, ...when.clock()}} : {frequency: when.frequency()};

const readChannels = async () => (await ask('GET', '/channels?limit=100')).channels;

const rows = f => [field('Name', f.name),
  field('Watched fields', f.struct, 'One a line: price = css:.price | number; a name with = or a text of several lines in quotes'),
  f.probe.element, f.when.fields, field('Tags', f.tags, 'With commas, at most 20; one that has a comma in quotes'),
  field('Webhook', f.webhook, 'An address that is told what changes; empty: no address'), f.channels.element];

export async function newMonitor() {
  const f = sharedFields(null, await readChannels());
  const column = h('input', {value: 'url', required: true});
  const subjects = area('');
  const file = h('input', {type: 'file', accept: '.csv,text/csv'});
  const rowsOf = () => lines(subjects.value).map(text => ({[column.value]: text}));
  const order = struct => {
    const given = rowsOf().slice(0, TRY_ROWS);
    return given.length === 0 ? null : {key_columns: [column.value], rows: given, struct, probe: f.probe.read()};
  };
  const body = () => f.struct.value.trim() === '' ? null : order(structOf(f.struct.value));
  const [name, ...others] = rows(f);
  return h('div', null, h('h2', null, 'New monitor'),
    form([name, field('Column of the rows', column, 'What names a row: url, domain, or another name'),
      field('Rows', subjects, 'One a line'), field('Or a CSV file', file, 'Its first line names the columns, that of the rows among them'), others, pickOnPage(f.struct, order), tryAsTyped([column, subjects, f.struct, f.probe.input], body)], 'Create', async () => {
      const struct = structOf(f.struct.value);
      if (file.files.length > 0 && subjects.value.trim() !== '') throw new Error('Rows are given twice: as lines and as a file. Take one of them away.');
      const given = file.files.length === 0 ? {rows: rowsOf()}
        : {resource_handle_id: (await ask('POST', '/storage/csv/upload', file.files[0])).handle_id};
      const made = await ask('POST', '/monitors', {
        name: f.name.value, key_columns: [column.value], ...given, struct, probe: f.probe.read(), ...timesOf(f.when), tags: tagsOf(f.tags.value),
        webhook_url: f.webhook.value || null, channel_ids: f.channels.chosen()});
      goOn(`#/monitors/${made.id}`, (made.warnings ?? ['Created.']).join(' '));
    }));
}

export async function changeMonitor(id) {
  const [m, page, channels] = await Promise.all(
    [readMonitor(id), ask('GET', `/monitors/${id}/rows?limit=${TRY_ROWS}`), readChannels()]);
  const f = sharedFields(m, channels);
  // By the name that the API has for it: what the fields say.
  const said = () => ({
    name: f.name.value, struct: f.struct.value, tags: f.tags.value, webhook_url: f.webhook.value || null,
    channel_ids: f.channels.chosen(), probe: f.probe.read(), ...timesOf(f.when, m.schedule)});
  const before = said();
  const order = struct => page.rows.length === 0 ? null
    : {key_columns: m.key_columns, rows: page.rows.map(row => row.subject), struct, probe: f.probe.read(), tier: m.tier};
  const body = () => order(structOf(f.struct.value));
  return h('div', null, h('h2', null, `Edit ${nameOf(m)}`),
    form([rows(f), pickOnPage(f.struct, order), tryAsTyped([f.struct, f.probe.input], body)], 'Save', async () => {
      // What nobody touched is not sent: a field may not show all of it, and a probe that is given forgets a kept session.
      const change = Object.fromEntries(Object.entries(said())
        .filter(([name, now]) => JSON.stringify(now) !== JSON.stringify(before[name])));
      if ('struct' in change) change.struct = structOf(change.struct);
      if ('tags' in change) change.tags = tagsOf(change.tags);
      const changed = Object.keys(change).length > 0;
      const saved = changed ? await ask('POST', `/monitors/${id}/update`, change) : {};
      goOn(`#/monitors/${id}`, (saved.warnings ?? [changed ? 'Saved.' : 'Nothing was changed.']).join(' '));
    }));
}
