// What was spent, by day, kind, monitor or key, as a chart and as a file.

import {ask, query} from './api.js';
import {h, number, table} from './dom.js';
import {barChart, field} from './parts.js';

const GROUPS = [['day', 'Day'], ['kind', 'Kind'], ['monitor', 'Monitor'], ['key', 'Key'], ['day,kind', 'Day and kind']];

const labelOf = row => row.day ?? row.monitor_name ?? row.monitor ?? row.key_name ?? row.key ?? row.kind ?? 'others';

export async function usage(filter) {
  const group = filter.group_by ?? 'day';
  const asked = {from: filter.from, to: filter.to, group_by: group};
  const found = await ask('GET', `/account/usage${query(asked)}`);
  const from = h('input', {type: 'date', value: found.from.slice(0, 10)});
  const to = h('input', {type: 'date', value: new Date(new Date(found.to) - 1).toISOString().slice(0, 10)});
  const by = h('select', null, GROUPS.map(([v, text]) => h('option', {value: v, selected: v === group}, text)));
  const names = group.split(',');
  const note = {
    monitor: 'Of checks, counted by monitor as long as history is kept, at the present price. The total is what was charged.',
    key: 'Jobs have the key that started them as long as they are kept. Checks have none.',
  }[group];
  return h('div', null, h('h2', null, 'Usage'),
    h('form', {class: 'filter', submit: event => {
      event.preventDefault();
      location.hash = `#/usage${query({from: from.value, to: to.value, group_by: by.value})}`;
    }}, field('From', from), field('To', to), field('By', by), h('p', null, h('button', {type: 'submit'}, 'Show'))),
    h('p', null, `${number(found.total.credits)} credits for ${number(found.total.checks)} checks and ${number(found.total.jobs)} jobs. `,
      h('a', {href: `/account/usage${query({...asked, format: 'csv'})}`, download: 'usage.csv'}, 'As CSV')),
    note && h('p', {class: 'note'}, note),
    names.length === 1 && found.rows.length > 0 && barChart('Credits', 'credits', found.rows.map(row =>
      [String(labelOf(row)).slice(0, 12), row.credits])),
    table('Usage', [
      ...names.map(name => [GROUPS.find(([v]) => v === name)[1], row => name === 'monitor' ? row.monitor_name ?? '–'
        : name === 'key' ? row.key_name ?? row.key ?? '–' : row[name] ?? '–']),
      ['Credits', row => number(row.credits), 'n'],
      ['Checks', row => number(row.checks), 'n'],
      ['Jobs', row => number(row.jobs), 'n'],
    ], found.rows, 'Nothing was spent.'));
}
