import {clients, ledger, madeBy} from './account.js';
import {ask, query} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, facts, h, number, replace, table, when} from './dom.js';
import {filterForm, showList} from './list.js';

const lockBadge = o => o.locked ? badge('locked', 'bad') : '';

export async function organisations(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Organisations'),
    filterForm([{name: 'q', label: 'Name or id'}], filter,
      f => { location.hash = `#/organisations${query(f)}`; }), list);
  await showList(list, {
    caption: 'Organisations, newest first', path: '/orgs', filter, empty: 'No organisation matches.',
    columns: [
      ['Name', o => h('a', {href: `#/organisations/${o.id}`}, o.name)],
      ['Access', lockBadge],
      ['Balance', o => number(o.balance), 'n'],
      ['Reserved', o => number(o.reserved), 'n'],
      ['Charged', o => number(o.charged), 'n'],
      ['Features', o => o.features.join(', ')],
      ['Made', o => when(o.created_at)],
    ],
  });
}

function lockButton(o, again) {
  const [title, what] = o.locked
    ? ['Unlock', 'Its API keys work again and its monitors go on with their schedules.']
    : ['Lock', 'Its API keys are refused and its checks stop within 5 seconds; its monitors show as paused.'];
  return h('button', {type: 'button', click: async () => {
    const done = await confirmChange({
      title: `${title}: ${o.name}`, what, button: title, reasonRequired: !o.locked,
      act: values => ask('PATCH', `/orgs/${o.id}`, {locked: !o.locked, ...values}),
    });
    if (done) again();
  }}, title);
}

function creditsButton(o, again) {
  return h('button', {type: 'button', click: async () => {
    const input = h('input', {id: 'dialog-amount', name: 'amount', type: 'number', step: '0.001',
                              required: true});
    const done = await confirmChange({
      title: `Credits: ${o.name}`, button: 'Book', reasonRequired: true,
      what: `The balance is ${number(o.balance)}. A negative amount takes credits.`,
      fields: [{id: 'dialog-amount', label: 'Amount', input}],
      act: ({amount, reason}) => ask('POST', `/orgs/${o.id}/credits`, {amount: Number(amount), reason}),
    });
    if (done) again();
  }}, 'Book credits');
}

export async function organisation(main, [id]) {
  const [o, keys] = await Promise.all([ask('GET', `/orgs/${id}`), ask('GET', `/orgs/${id}/api-keys`)]);
  const again = () => organisation(main, [id]);
  const [clientList, ledgerList] = await Promise.all([clients(o, again), ledger(o)]);
  replace(main,
    h('h2', null, o.name, ' ', lockBadge(o)),
    h('p', {class: 'buttons'}, lockButton(o, again), creditsButton(o, again)),
    facts([
      ['Id', h('code', null, o.id)], ['Name at the identity provider', o.external_id ?? '–'],
      ['Features', o.features.join(', ') || '–'],
      ['Balance', number(o.balance)], ['Reserved', number(o.reserved)], ['Charged', number(o.charged)],
      ['Made', when(o.created_at)],
      ['Monitors', h('a', {href: `#/monitors?org_id=${o.id}`}, 'of this organisation')],
      ['Dead deliveries', h('a', {href: `#/deliveries?state=dead&org_id=${o.id}`}, 'of this organisation')],
    ]),
    table('Teams', [
      ['Name', t => t.name], ['Id', t => h('code', null, t.id)],
      ['Spent this month', t => number(t.spent), 'n'],
      ['Spend limit', t => t.spend_limit === null ? 'none' : number(t.spend_limit), 'n'],
    ], o.teams, 'No team.'),
    table('API keys', [
      ['Name', k => k.name], ['Begins with', k => h('code', null, k.prefix)],
      ['Team', k => o.teams.find(t => t.id === k.team_id)?.name ?? '–'],
      ['Made', k => when(k.created_at)],
      ['Change', k => h('button', {type: 'button', click: async () => {
        const done = await confirmChange({
          title: `Revoke: ${k.name}`, button: 'Revoke',
          what: `Requests with this key are refused within 5 seconds. That cannot be undone.${await madeBy(id, k.id)}`,
          act: values => ask('DELETE', `/orgs/${id}/api-keys/${k.id}`,
            Object.keys(values).length > 0 ? values : undefined),
        });
        if (done) again();
      }}, 'Revoke')],
    ], keys.items, 'No API key.'),
    clientList, ledgerList);
}
