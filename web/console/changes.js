// What monitors have seen lately: of all of them, of an organisation's, or of one.

import {ask, query} from './api.js';
import {exactly, h, replace} from './dom.js';
import {diff} from './diff.js';
import {filterForm, showList} from './list.js';
import {named} from './names.js';

const TYPES = [['', 'changes and errors'], ['change', 'changes'], ['error', 'errors']];
const SHOWN = 50;

const columns = monitorId => [
  ['When', e => exactly(e.created_at)],
  !monitorId && ['Monitor', e => named('monitor', e.monitor_id)],
  ['Row', e => h('a', {href: `#/monitors/${e.monitor_id}/rows/${e.row_id}`, title: e.row_id}, e.row_id.slice(-12))],
  ['Field', e => e.field ?? e.event_type],
  ['What', e => e.event_type === 'change' ? diff(e) : h('span', {class: 'bad'}, e.message ?? '')],
].filter(Boolean);

export async function changes(main, [monitorId], filter) {
  const list = h('div');
  const monitor = monitorId && await ask('GET', `/monitors/${monitorId}`);
  const here = monitorId ? `#/monitors/${monitorId}/changes` : '#/changes';
  replace(main,
    monitorId && h('p', null, h('a', {href: `#/monitors/${monitorId}`}, 'Back to the monitor')),
    h('h2', null, monitor ? `Changes of ${monitor.name}` : 'Changes'),
    filterForm([
      {name: 'event_type', label: 'Show', options: TYPES},
      !monitorId && {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    ].filter(Boolean), filter, f => { location.hash = `${here}${query(f)}`; }),
    !monitorId && !filter.org_id && h('p', {class: 'note'}, 'Of the last 7 days; of one organisation, all that is kept.'),
    list);
  await showList(list, {
    caption: 'Events, newest first', path: monitorId ? `/monitors/${monitorId}/events` : '/events',
    filter: {...filter, limit: SHOWN}, empty: 'No change was seen.', columns: columns(monitorId),
  });
}
