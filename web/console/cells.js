// The cells that organisations are spread over, and one search for an organisation at all of them.

import {ask, query} from './api.js';
import {badge, duration, h, number, replace, table} from './dom.js';
import {filterForm} from './list.js';

const nameOf = cell => cell === '' ? 'the first' : cell;

// A page of the console of the cell that `item` is of: this one, or another, which asks for a token of its own.
const pageAt = (item, page) => `${item.url === null ? '' : `${item.url}/`}#/${page}`;

function cellsTable(items) {
  return table('Cells', [
    ['Cell', c => [h('a', {href: pageAt(c, '')}, nameOf(c.cell)), c.url === null && ' (this one)']],
    ['State', c => c.reachable ? badge('answers', 'good') : [badge('no answer', 'bad'), ' ', c.error]],
    ['Version', c => c.version ?? '–'],
    ['Organisations', c => number(c.organisations), 'n'],
    ['Monitors', c => number(c.monitors), 'n'],
    ['Checks due', c => number(c.checks_due), 'n'],
    ['Oldest due', c => duration(c.checks_due > 0 ? c.lag_ms : null), 'n'],
    ['Oldest undelivered', c => duration(c.undelivered_ms), 'n'],
  ], items);
}

// What keeps an organisation from being found where it is looked for.
function silence(found) {
  const there = found.items.some(o => o.cell === found.lives_at);
  return [
    found.unreachable.map(c => h('p', {class: 'bad', role: 'alert'}, `Cell ${nameOf(c.cell)} was not searched: ${c.error}`)),
    found.lives_at !== null && !there && h('p', null, `By the directory this organisation is at cell ${nameOf(found.lives_at)}.`),
  ];
}

function foundTable(found) {
  return [
    silence(found),
    table('Organisations', [
      ['Cell', o => nameOf(o.cell)],
      ['Name', o => h('a', {href: pageAt(o, `organisations/${o.id}`)}, o.name)],
      ['State', o => o.lives_at === null ? o.locked && badge('locked', 'bad') : badge(`lives at ${nameOf(o.lives_at)}`, 'off')],
      ['Name at the identity provider', o => o.external_id ?? '–'],
      ['Balance', o => number(o.balance), 'n'],
    ], found.items, 'No cell that answers has such an organisation.'),
    found.more && h('p', {class: 'note'}, 'There are more: write more of the name.'),
  ];
}

export async function cells(main, _, filter) {
  const [known, found] = await Promise.all([ask('GET', '/cells'), filter.q && ask('GET', `/directory${query({q: filter.q})}`)]);
  replace(main, h('h2', null, 'Cells'), cellsTable(known.items),
    known.items.length === 1 && h('p', {class: 'note'}, 'No other cell is named to this process (vedette serve --cells).'),
    h('h3', null, 'An organisation at any of them'),
    filterForm([{name: 'q', label: 'Name, external id or id'}], filter, f => { location.hash = `#/cells${query(f)}`; }),
    found && foundTable(found));
}
