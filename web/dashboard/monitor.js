// One monitor: its state, what it has seen, its rows, and what may be done with it; and one of its rows.

import {ask, readMonitor, readSnapshot, session} from './api.js';
import {diff} from './diff.js';
import {badge, exactly, facts, h, link, number, statusBadge, value, when} from './dom.js';
import {stepChart} from './figures.js';
import {again, button, fileButton, goOn, list, nameOf, pages, say, sureButton, tagList} from './parts.js';
import {pageOf} from './snapshots.js';

const EVENTS_OF_ROW = 500;

// A change, or why a check failed; of many rows' with a link to its row.
export function eventItem(event) {
  const where = event.monitor_id && [' ', h('a', {href: `#/monitors/${event.monitor_id}/rows/${event.row_id}`}, 'its row')];
  if (event.message) return h('li', {class: 'plain'}, when(event.created_at), ' ', badge('failed', 'bad'), ' ', h('bdi', null, event.message), where, pageOf(event, readSnapshot));
  return h('li', null, h('p', null, h('strong', null, event.field ?? event.event_type), ' ', when(event.created_at), where),
    event.field && diff(event),
    event.evidence && h('p', {class: 'note'}, event.evidence),
    event.sources?.length > 0 && h('p', {class: 'note'}, 'Sources: ', event.sources.map(s => [link(s), ' '])),
    pageOf(event, readSnapshot));
}

const eventItems = events => events.length === 0 ? h('p', {class: 'empty'}, 'Nothing yet.')
  : h('ul', {class: 'events'}, events.map(eventItem));

function actions(m) {
  const act = (path, body, said) => async () => {
    const {warnings} = await ask('POST', `/monitors/${m.id}/${path}`, body);
    say((warnings ?? [said]).join(' '));
    again();
  };
  const file = fileButton('Export as CSV', `/monitors/${m.id}/export.csv`, `monitor-${m.id}.csv`);
  if (!session.may('member')) return h('p', null, file);
  return h('div', {class: 'buttons'},
    h('a', {href: `#/monitors/${m.id}/change`}, 'Edit'), file,
    m.is_active ? button('Pause', act('update', {is_active: false}, 'Paused.')) : button('Resume', act('update', {is_active: true}, 'Resumed.')),
    button('Check now', act('trigger', {}, 'Its rows are being checked.')),
    m.webhook_url && button('Test webhook', async () => {
      const test = await ask('POST', `/monitors/${m.id}/webhook/test`, {});
      say(test.delivered ? 'The receiver has taken it.' : `The receiver has not taken it: ${test.error ?? test.status_code}`);
    }),
    sureButton('Archive', 'Archive it? It is checked no more.', act('archive', {}, 'Archived.')),
    sureButton('Delete', 'Delete it for good?', async () => {
      await ask('DELETE', `/monitors/${m.id}`);
      goOn('#/monitors', 'Deleted.');
    }));
}

const PAYS_NONE = {
  balance: 'credits: those of the organisation do not pay a check',
  spend_limit: 'room in its team’s spend limit, which does not pay a check this month',
};

// For what its checks, and what it tells, wait.
function waits(m) {
  const all = [m.waiting_for && PAYS_NONE[m.waiting_for],
    m.webhook_waiting_until && ['its receiver, which failed several times in a row and is told nothing until ', exactly(m.webhook_waiting_until)]];
  return all.some(Boolean) ? all.map(one => one && h('div', null, one)) : 'nothing';
}

export async function monitor(id) {
  const m = await readMonitor(id);
  const fields = Object.keys(m.watched);
  const [waiting, events, rows] = await Promise.all([
    m.webhook_url || m.channel_ids?.length > 0 ? list({path: `/monitors/${id}/deliveries`, name: 'deliveries', caption: 'Deliveries',
      empty: 'Everything that it saw was told.', columns: [
        ['Made', d => when(d.created_at)],
        ['State', d => [statusBadge(d.state), d.waiting_for && ` waits for ${d.waiting_for.replaceAll('_', ' ')}`]],
        ['What', d => d.event_type],
        ['Attempts', d => number(d.attempts), 'n'],
        ['Next', d => when(d.next_attempt_at)],
        ['Last error', d => d.last_error ?? '–'],
      ]}) : null,
    pages({path: `/monitors/${id}/events`, name: 'events', show: eventItems}),
    list({path: `/monitors/${id}/rows`, name: 'rows', caption: 'Rows', empty: 'None.', columns: [
      ...m.key_columns.map((column, n) => [column, row => n === 0
        ? h('a', {href: `#/monitors/${id}/rows/${row.id}`}, value(row.subject[column])) : value(row.subject[column])]),
      ...fields.map(name => [name, row => value(row.current[name]?.value)]),
      ['Last check', row => when(row.last_run_at)],
      ['State', row => !row.is_active ? badge('off', 'off') : row.is_failing ? badge('failing', 'bad') : badge('active', 'good')],
    ]})]);
  return h('div', null, h('p', null, h('a', {href: '#/monitors'}, 'All monitors')), h('h2', null, nameOf(m)), actions(m),
    facts([
      ['Status', [statusBadge(m.status), m.disabled_reason && ` ${m.disabled_reason}`]],
      ['Health', m.failing_since ? [badge('failing', 'bad'), ' since ', exactly(m.failing_since)] : 'works'],
      ['Tags', tagList(m.tags)],
      ['Watched fields', fields.map(name => h('div', null, h('strong', null, name), ': ', String(m.watched[name])))],
      ['Every', m.schedule ? h('code', null, JSON.stringify(m.schedule)) : m.frequency],
      ['Waits for', waits(m)],
      ['Last check', exactly(m.last_run_at)],
      ['Next', m.next_run_times.length ? exactly(m.next_run_times[0]) : '–'],
      ['Rows', number(m.row_count)],
      ['Webhook', m.webhook_url ? [m.webhook_url, m.webhook_failing && [' ', badge('failing', 'bad')]] : 'none'],
      ['Channels', m.channel_ids?.length > 0 ? h('a', {href: '#/channels'}, number(m.channel_ids.length)) : 'none'],
    ]),
    rows, waiting, h('h3', null, 'What it has seen'), events);
}

// A row: what is known of it now, how its numbers went, and its events.
export async function monitorRow(id, rowId) {
  const path = `/monitors/${id}/rows/${rowId}`;
  const [row, events] = await Promise.all([ask('GET', path), ask('GET', `${path}/events?limit=${EVENTS_OF_ROW}`)]);
  const charts = Object.keys(row.current).map(name => stepChart(name, events)).filter(Boolean);
  return h('div', null, h('p', null, h('a', {href: `#/monitors/${id}`}, 'Its monitor, ', h('bdi', null, row.name))),
    h('h2', null, Object.values(row.subject).join(' · ')),
    facts([
      ...Object.entries(row.subject).map(([name, v]) => [name, v === null ? '–' : link(String(v))]),
      ...Object.entries(row.context ?? {}).map(([name, v]) => [name, v === null ? '–' : link(String(v))]),
      ['Last check', exactly(row.last_run_at)],
      ['Health', row.failure ? [badge('failing', 'bad'), ' since ', exactly(row.failure.since), ': ', h('bdi', null, row.failure.message)] : 'works'],
    ]),
    h('h3', null, 'Present values'),
    facts(Object.entries(row.current).map(([name, now]) => [name, [
      row.never_observed.includes(name) ? badge('never observed', 'bad') : value(now.value),
      now.since && h('span', {class: 'note'}, ' since ', when(now.since)),
      now.evidence && h('p', {class: 'note'}, now.evidence)]])),
    charts.length > 0 && h('div', {class: 'charts'}, charts),
    h('h3', null, 'What was seen'), eventItems(events),
    events.length === EVENTS_OF_ROW && h('p', {class: 'note'}, `The newest ${EVENTS_OF_ROW}.`));
}
