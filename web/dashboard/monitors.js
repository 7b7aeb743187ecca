// The list of monitors, by name, tag, status and failure.

import {session} from './api.js';
import {badge, h, number, statusBadge, when} from './dom.js';
import {field, list, nameOf, orWhy, tagList} from './parts.js';

const STATUSES = ['', 'active', 'paused', 'starting', 'failed', 'cancelled'];

function filterForm(filter) {
  const name = h('input', {value: filter.name ?? '', type: 'search'});
  const tag = h('input', {value: filter.tag ?? '', type: 'search'});
  const status = h('select', null, STATUSES.map(s => h('option', {value: s, selected: s === (filter.status ?? '')}, s || 'any')));
  const failing = h('select', null, ['', 'true'].map(v => h('option', {value: v, selected: v === (filter.failing ?? '')}, v ? 'failing' : 'any')));
  const fresh = h('select', null, [['', 'any'], ['true', 'fresh'], ['false', 'not fresh']].map(([v, text]) =>
    h('option', {value: v, selected: v === (filter.fresh ?? '')}, text)));
  return h('form', {class: 'filter', role: 'search', submit: event => {
    event.preventDefault();
    const given = Object.entries({name: name.value, tag: tag.value, status: status.value, failing: failing.value, fresh: fresh.value})
      .filter(([, v]) => v !== '');
    location.hash = `#/monitors?${new URLSearchParams(given)}`;
  }}, field('Name', name), field('Tag', tag), field('Status', status), field('Checks', failing), field('Freshness', fresh),
  h('p', null, h('button', {type: 'submit'}, 'Find')));
}

export async function monitors(filter) {
  return h('div', null, h('h2', null, 'Monitors'),
    session.may('member') && h('p', null, h('a', {href: '#/monitors/new'}, 'New monitor')),
    filterForm(filter),
    await orWhy(() => list({path: '/monitors', filter, name: 'monitors', caption: 'Monitors', empty: 'None that match.', columns: [
      ['Name', m => h('a', {href: `#/monitors/${m.id}`}, nameOf(m))],
      ['Status', m => [statusBadge(m.status), m.failing_since && [' ', badge('failing', 'bad')],
        m.waiting_for && [' ', badge(m.waiting_for === 'balance' ? 'waits for credits' : 'waits for its spend limit', 'warn')]]],
      ['Tags', m => tagList(m.tags)],
      ['Rows', m => number(m.row_count), 'n'],
      ['Every', m => m.schedule ? 'by the clock' : m.frequency],
      ['Last check', m => when(m.last_run_at)],
      ['Next', m => when(m.next_run_times[0])],
    ]})));
}
