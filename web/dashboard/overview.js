// What changed of late, what fails, and what was spent.

import {ask, query, session} from './api.js';
import {h, number, table, when} from './dom.js';
import {barChart} from './figures.js';
import {eventItem} from './monitor.js';
import {nameOf, orWhy} from './parts.js';
import {daysOf} from './usage.js';

const CHANGES_COUNTED = 100;
const CHANGES_SHOWN = 20;

function tile(title, figure, bad) {
  return h('div', {class: bad ? 'tile bad' : 'tile'}, h('h3', null, title), h('p', {class: 'figure'}, figure));
}

async function monitorsOverview() {
  const [failing, events] = await Promise.all([
    ask('GET', `/monitors${query({failing: true, limit: 20})}`),
    ask('GET', `/events${query({event_type: 'change', limit: CHANGES_COUNTED})}`),
  ]);
  const today = events.events.filter(e => e.created_at.slice(0, 10) === new Date().toISOString().slice(0, 10)).length;
  return [
    h('div', {class: 'tiles'},
      tile('Changes today', number(today) + (today === CHANGES_COUNTED ? '+' : '')),
      tile('Monitors that fail', number(failing.monitors.length) + (failing.next_cursor ? '+' : ''), failing.monitors.length > 0)),
    failing.monitors.length > 0 && table('Monitors that fail', [
      ['Name', m => h('a', {href: `#/monitors/${m.id}`}, nameOf(m))],
      ['Since', m => when(m.failing_since)],
    ], failing.monitors),
    h('h3', null, 'Latest changes'),
    events.events.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
      : h('ul', {class: 'events'}, events.events.slice(0, CHANGES_SHOWN).map(eventItem))];
}

export async function overview() {
  const owner = session.may('owner');
  // An organisation may have no feature for monitors: what it spends is shown all the same.
  const [credits, usage, monitors] = await Promise.all([
    ask('GET', '/credits'),
    owner ? ask('GET', '/account/usage?group_by=day') : null,
    orWhy(monitorsOverview),
  ]);
  return h('div', null, h('h2', null, 'Overview'),
    h('div', {class: 'tiles'},
      tile('Credits', number(credits.credits)),
      tile('Reserved', number(credits.reserved)),
      usage && tile('Spent in 30 days', number(usage.total.credits))),
    usage && barChart('Credits by day', 'credits', daysOf(usage)),
    monitors);
}
