// One row: what is known of it now, how its numbers went, and its events.

import {ask, query, readSnapshot} from './api.js';
import {diff} from './diff.js';
import {badge, copyable, exactly, facts, h, link, number, replace, value, when} from './dom.js';
import {stepChart} from './figures.js';
import {showList} from './list.js';
import {named} from './names.js';
import {pageOf} from './snapshots.js';

const EVENTS_SHOWN = 500;
const EVENTS_A_PAGE = 50;
const KINDS = [['', 'the newest changes and errors'], ['change', 'all changes'], ['error', 'all errors of checks that were made'],
               ['all', 'the newest with completions']];

// An event as an item of a list; of many rows' with a link to its row.
export function eventRow(event, monitorId) {
  const change = event.event_type === 'change';
  return h('li', {class: event.event_type === 'completion' && 'plain'},
    h('p', null, exactly(event.created_at), ' ', h('strong', null, event.event_type), ' ',
      event.field ?? '', change ? '' : ` ${event.message ?? ''}`,
      monitorId && [' ', h('a', {href: `#/monitors/${monitorId}/rows/${event.row_id}`}, 'its row')]),
    change && diff(event),
    event.evidence && h('p', {class: 'note'}, event.evidence),
    event.sources?.length > 0 && h('p', {class: 'note'}, 'Sources: ', event.sources.map(s => [link(s), ' '])),
    pageOf(event, readSnapshot));
}

// What is known of a row now, and where a field was looked for and never found.
export function present(row) {
  return Object.entries(row.current).map(([field, now]) =>
    h('div', {title: now.evidence ?? ''}, `${field}: `,
      row.never_observed.includes(field) ? badge('never observed', 'bad') : h('strong', null, value(now.value)),
      now.since && [', since ', when(now.since)]));
}

function eventsOf(events) {
  return events.length === 0 ? h('p', {class: 'empty'}, 'No such event.') : h('ol', {class: 'events'}, events.map(e => eventRow(e)));
}

// All events of one type, by pages; else the newest of all checks, those that were skipped among them.
async function showEvents(into, path, ofRow, kind) {
  if (kind === 'change' || kind === 'error') {
    return showList(into, {
      caption: 'Events, newest first', path: ofRow.path, filter: {...ofRow.filter, event_type: kind, limit: EVENTS_A_PAGE},
      empty: 'No such event.', columns: [['What', e => h('ol', {class: 'events'}, eventRow(e))]],
    });
  }
  const events = await ask('GET', `${path}/events${query({limit: EVENTS_SHOWN, include_completions: kind === 'all' || undefined})}`);
  replace(into, eventsOf(events),
    events.length === EVENTS_SHOWN && h('p', {class: 'note'}, `The newest ${EVENTS_SHOWN}. All changes, and all errors, can be chosen above.`));
}

export async function rowPage(main, [monitorId, rowId], filter) {
  const path = `/monitors/${monitorId}/rows/${rowId}`;
  const kind = filter.events ?? '';
  const ofRow = {path: `/monitors/${monitorId}/events`, filter: {row_id: rowId}};
  const [row, latest] = await Promise.all([
    ask('GET', path), ask('GET', ofRow.path + query({...ofRow.filter, event_type: 'change', limit: EVENTS_SHOWN}))]);
  const charts = Object.keys(row.current).map(field => stepChart(field, latest.items)).filter(Boolean);
  const events = h('div');
  const choice = h('select', {id: 'events', change: () => { location.hash = `#${path}?events=${choice.value}`; }},
    KINDS.map(([name, text]) => h('option', {value: name, selected: name === kind}, text)));
  replace(main,
    h('p', null, h('a', {href: `#/monitors/${monitorId}`}, 'Back to the monitor')),
    h('h2', null, 'A row: ', Object.values(row.subject).join(' · '), ' ', row.failure && badge('failing', 'bad')),
    facts([
      ['Id', copyable(rowId)],
      ['Monitor', named('monitor', monitorId)],
      ['Subject', Object.entries(row.subject).map(([name, v]) => h('div', null, `${name}: `, v === null ? '–' : link(String(v))))],
      ['Further columns', row.context ? Object.entries(row.context).map(([name, v]) => h('div', null, `${name}: `, link(String(v)))) : '–'],
      ['Present values', present(row)],
      ['Last completed check', exactly(row.last_run_at)],
      ['Failing', row.failure ? ['since ', exactly(row.failure.since), `: ${row.failure.message}`] : 'no'],
      ['Who changed it', h('a', {href: `#/audit?target=${rowId}`}, 'in the audit')],
    ]),
    charts.length > 0 && h('div', {class: 'charts'}, charts),
    h('h3', null, 'Events'),
    h('p', {class: 'filter'}, h('span', null, h('label', {for: 'events'}, 'Show'), choice)),
    events);
  await showEvents(events, path, ofRow, kind);
}
