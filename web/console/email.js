// Lookups of addresses: what mail servers say of our machines, which of them are left alone, how many questions the
// fleet may still ask, and who answers lookups.

import {ask, may} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, h, number, replace, table, when} from './dom.js';

const HEALTH = {ok: 'good', warn: 'warn', fail: 'bad'};

// One row a check of each process that asks mail servers; the ill ones come first.
function checksOf(members) {
  const order = ['fail', 'warn', 'ok'];
  return members.flatMap(member => (member.mail_check ?? []).map(check => ({member, ...check})))
    .sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
}

function unblock(host, again) {
  if (!host.blocked_until || !may('operator')) return '';
  return h('button', {type: 'button', 'aria-label': `Ask again: ${host.key}`, click: async () => {
    const done = await confirmChange({
      title: `Ask ${host.key} again`, button: 'Ask again', reasonRequired: true,
      what: 'The next question goes to this server at once. If it still refuses us it is left alone again.',
      act: values => ask('POST', '/email/hosts/unblock', {...values, key: host.key}),
    });
    if (done) again();
  }}, 'Ask again');
}

const process = member => `${member.host} ${member.pid}`;

function failing(provider) {
  return provider.failing.map(one => h('div', null, `${process(one)}: ${number(one.failures)} in a row `,
    one.left_out && badge('left out', 'bad')));
}

export async function email(main) {
  const again = () => email(main).catch(e => replace(main, h('p', {class: 'bad', role: 'alert'}, e.message)));
  const [overview, hosts, budgets, providers] = await Promise.all(
    ['/overview', '/email/hosts', '/email/budgets', '/providers'].map(path => ask('GET', path)));
  const askers = overview.members.filter(m => m.jobs.lanes.includes('smtp'));
  replace(main, h('h2', null, 'Email'),
    askers.length === 0 && h('p', {class: 'note'},
      'No process asks mail servers, so that no address is verified: [email.smtp] hello_name is empty, or no worker serves the lane smtp.'),
    table('What mail servers make of our processes', [
      ['Process', c => process(c.member)],
      ['Check', c => c.check],
      ['State', c => badge(c.status, HEALTH[c.status] ?? 'off')],
      ['What to do', c => c.message],
    ], checksOf(overview.members), 'No process has examined its mail yet.'),
    table('Mail servers that are left alone, or were of late', [
      ['Server', s => s.key],
      ['State', s => s.blocked_until ? badge('left alone', 'bad') : ''],
      ['Until', s => when(s.blocked_until)],
      ['Times in a row', s => number(s.failures), 'n'],
      ['Why', s => s.reason ?? ''],
      ['Last reply', s => s.last_reply],
      ['Again', s => unblock(s, again)],
    ], hosts.items, 'Every mail server is asked.'),
    table('Questions to mail servers, of the whole fleet', [
      ['Budget', b => b.key],
      ['Used', b => number(b.used), 'n'],
      ['Of', b => number(b.max), 'n'],
      ['State', b => b.used >= b.max ? badge('used up', 'warn') : ''],
      ['Ends', b => when(b.ends_at)],
    ], budgets.items, 'Nothing was asked of late.'),
    table('Providers of lookups', [
      ['Provider', p => p.id],
      ['Kind', p => p.kind],
      ['State', p => p.state === 'on' ? badge('on', 'good') : [badge('off', 'off'), ` ${p.why}`]],
      ['In the orders', p => p.orders.join(', ')],
      ['Fails in', failing],
    ], providers.items));
}
