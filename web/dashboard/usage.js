// What was spent, by day, kind, monitor or key, as a chart and as a file.

import {ask, query} from './api.js';
import {h, number, table} from './dom.js';
import {barChart, shareBar} from './figures.js';
import {field, fileButton, orWhy} from './parts.js';

const GROUPS = [['day', 'Day'], ['kind', 'Kind'], ['monitor', 'Monitor'], ['key', 'Key'], ['day,kind', 'Day and kind']];
const NAMES = Object.fromEntries(GROUPS);

const DAY_MS = 86400000;
const SHARES_SHOWN = 20;
const ROWS_SHOWN = 200;  // of monitors or keys: drawing a thousand takes as long as asking for them

const labelOf = row => row.day ?? row.monitor_name ?? row.monitor ?? row.key_name ?? row.key ?? row.kind ?? 'others';

// Every day of the time, those without charges too.
export function daysOf(found) {
  const by = new Map(found.rows.map(row => [row.day, row.credits]));
  const days = [];
  for (let at = Date.parse(found.from.slice(0, 10)); at < Date.parse(found.to); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push([day, by.get(day) ?? 0]);
  }
  return days;
}

const dearest = (rows, most) => rows.toSorted((a, b) => b.credits - a.credits).slice(0, most);

// What most was spent on, as bars of the greatest.
function shares(rows) {
  const most = Math.max(...rows.map(row => row.credits), 0);
  if (most === 0) return null;
  return h('ol', {class: 'shares'}, dearest(rows, SHARES_SHOWN).map(row => {
    const said = `${labelOf(row)}: ${number(row.credits)} credits`;
    return h('li', null, h('p', null, said), shareBar(said, row.credits / most));
  }));
}

// What was found, below the form.
function spent(found, asked) {
  const group = asked.group_by;
  const names = group.split(',');
  const isLong = !names.includes('day') && found.rows.length > ROWS_SHOWN;
  const note = {
    monitor: 'Of checks, counted by monitor as long as history is kept, at the present price. The total is what was charged.',
    key: 'Jobs have the key that started them as long as they are kept. Checks have none.',
  }[group];
  return [
    h('p', null, `${number(found.total.credits)} credits for ${number(found.total.checks)} checks and ${number(found.total.jobs)} jobs. `,
      fileButton('As CSV', `/account/usage${query({...asked, format: 'csv'})}`, 'usage.csv')),
    note && h('p', {class: 'note'}, note),
    group === 'day' && found.rows.length > 0 && barChart('Credits by day', 'credits', daysOf(found)),
    names.length === 1 && group !== 'day' && shares(found.rows),
    isLong && h('p', {class: 'note'}, `The ${ROWS_SHOWN} that most was spent on, of ${number(found.rows.length)}. All are in the file.`),
    table('Usage', [
      ...names.map(name => [NAMES[name], row => name === 'monitor' ? row.monitor_name ?? '–'
        : name === 'key' ? row.key_name ?? row.key ?? '–' : row[name] ?? '–']),
      ['Credits', row => number(row.credits), 'n'],
      ['Checks', row => number(row.checks), 'n'],
      ['Jobs', row => number(row.jobs), 'n'],
    ], isLong ? dearest(found.rows, ROWS_SHOWN) : found.rows, 'Nothing was spent.')];
}

export async function usage(filter) {
  const asked = {from: filter.from, to: filter.to, group_by: filter.group_by ?? 'day'};
  const from = h('input', {type: 'date', value: filter.from});
  const to = h('input', {type: 'date', value: filter.to});
  const by = h('select', null, GROUPS.map(([v, text]) => h('option', {value: v, selected: v === asked.group_by}, text)));
  const shown = await orWhy(async () => {
    const found = await ask('GET', `/account/usage${query(asked)}`);
    from.value = found.from.slice(0, 10);
    to.value = new Date(new Date(found.to) - 1).toISOString().slice(0, 10);
    return spent(found, asked);
  });
  return h('div', null, h('h2', null, 'Usage'),
    h('form', {class: 'filter', submit: event => {
      event.preventDefault();
      location.hash = `#/usage${query({from: from.value, to: to.value, group_by: by.value})}`;
    }}, field('From', from), field('To', to), field('By', by), h('p', null, h('button', {type: 'submit'}, 'Show'))), shown);
}
