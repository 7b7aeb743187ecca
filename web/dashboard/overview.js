// What changed of late, what fails, and what was spent.

import {ask, query, session} from './api.js';
import {h, number, table, when} from './dom.js';
import {eventItem} from './monitor.js';
import {barChart} from './parts.js';

const DAYS = 30;

function tile(title, figure, bad) {
  return h('div', {class: bad ? 'tile bad' : 'tile'}, h('h3', null, title), h('p', {class: 'figure'}, figure));
}

// Every day of the last month, those without charges too.
export function daysOf(rows) {
  const by = new Map(rows.map(row => [row.day, row.credits]));
  return Array.from({length: DAYS}, (_, i) => new Date(Date.now() - (DAYS - 1 - i) * 86400000).toISOString().slice(0, 10))
    .map(day => [day.slice(5), by.get(day) ?? 0]);
}

export async function overview() {
  const owner = session.may('owner');
  const [credits, failing, events, usage] = await Promise.all([
    ask('GET', '/credits'),
    ask('GET', `/monitors${query({failing: true, limit: 20})}`),
    ask('GET', `/events${query({event_type: 'change', limit: 20})}`),
    owner ? ask('GET', '/account/usage?group_by=day') : null,
  ]);
  return h('div', null, h('h2', null, 'Overview'),
    h('div', {class: 'tiles'},
      tile('Credits', number(credits.credits)),
      tile('Reserved', number(credits.reserved)),
      tile('Monitors that fail', number(failing.monitors.length) + (failing.next_cursor ? '+' : ''), failing.monitors.length > 0),
      usage && tile('Spent in 30 days', number(usage.total.credits))),
    usage && barChart('Credits by day', 'credits', daysOf(usage.rows)),
    failing.monitors.length > 0 && table('Monitors that fail', [
      ['Name', m => h('a', {href: `#/monitors/${m.id}`}, m.name)],
      ['Since', m => when(m.failing_since)],
    ], failing.monitors),
    h('h3', null, 'Latest changes'),
    events.events.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
      : h('ul', {class: 'events'}, events.events.map(eventItem)));
}
