// One monitor: its state, what it has seen, its rows, and what may be done with it.

import {ask, readMonitor, session} from './api.js';
import {diff} from './diff.js';
import {badge, exactly, facts, h, number, statusBadge, value, when} from './dom.js';
import {button, list, say, sureButton, tagList} from './parts.js';

// A change, or why a check failed.
export function eventItem(event) {
  const about = event.monitor_id && h('a', {href: `#/monitors/${event.monitor_id}`}, 'monitor');
  if (event.message) return h('li', {class: 'plain'}, when(event.created_at), ' ', badge('failed', 'bad'), ' ', event.message, ' ', about);
  return h('li', null, h('p', null, h('strong', null, event.field ?? event.event_type), ' ', when(event.created_at), ' ', about),
    event.field && diff(event));
}

function actions(m, renew) {
  const act = (path, body, said) => async () => {
    await ask('POST', `/monitors/${m.id}/${path}`, body);
    say(said);
    renew();
  };
  if (!session.may('member')) return null;
  return h('div', {class: 'buttons'},
    h('a', {href: `#/monitors/${m.id}/change`}, 'Edit'),
    m.is_active ? button('Pause', act('update', {is_active: false}, 'Paused.')) : button('Resume', act('update', {is_active: true}, 'Resumed.')),
    button('Check now', act('trigger', {}, 'Its rows are being checked.')),
    m.webhook_url && button('Test webhook', async () => {
      const test = await ask('POST', `/monitors/${m.id}/webhook/test`, {});
      say(test.delivered ? 'The receiver has taken it.' : `The receiver has not taken it: ${test.error ?? test.status_code}`);
    }),
    h('a', {href: `/monitors/${m.id}/export.csv`, download: ''}, 'Export as CSV'),
    sureButton('Delete', 'Delete it for good?', async () => {
      await ask('DELETE', `/monitors/${m.id}`);
      say('Deleted.');
      location.hash = '#/monitors';
    }));
}

export async function monitor(id) {
  const [m, events] = await Promise.all([readMonitor(id), ask('GET', `/monitors/${id}/events?limit=50`)]);
  const fields = Object.keys(m.watched);
  const renew = () => dispatchEvent(new HashChangeEvent('hashchange'));
  return h('div', null, h('h2', null, m.name), actions(m, renew),
    facts([
      ['Status', [statusBadge(m.status), m.disabled_reason && ` ${m.disabled_reason}`]],
      ['Health', m.failing_since ? [badge('failing', 'bad'), ' since ', exactly(m.failing_since)] : 'works'],
      ['Tags', tagList(m.tags)],
      ['Every', m.schedule ? JSON.stringify(m.schedule) : m.frequency],
      ['Last check', exactly(m.last_run_at)],
      ['Next', m.next_run_times.length ? exactly(m.next_run_times[0]) : '–'],
      ['Rows', number(m.row_count)],
      ['Webhook', m.webhook_url ? [m.webhook_url, m.webhook_failing && [' ', badge('failing', 'bad')]] : 'none'],
    ]),
    h('h3', null, 'What it has seen'),
    events.events.length === 0 ? h('p', {class: 'empty'}, 'No changes yet.') : h('ul', {class: 'events'}, events.events.map(eventItem)),
    await list({path: `/monitors/${id}/rows`, name: 'rows', caption: 'Rows', empty: 'None.', columns: [
      ...m.key_columns.map(column => [column, row => value(row.subject[column])]),
      ...fields.map(name => [name, row => value(row.current[name]?.value)]),
      ['Last check', row => when(row.last_run_at)],
      ['', row => row.is_active ? null : badge('off', 'off')],
    ]}));
}
