// The members who may sign in, and the people who are invited to.

import {ask, session} from './api.js';
import {h, number, replace, table, when} from './dom.js';
import {again, field, form, guarded, once, say, sureButton} from './parts.js';

const ROLES = ['viewer', 'member', 'owner'];

function roleSelect(chosen, change) {
  return h('select', {'aria-label': 'Role', change}, ROLES.map(role => h('option', {value: role, selected: role === chosen}, role)));
}

export async function members() {
  const [{members: all}, {invitations}] = await Promise.all([ask('GET', '/account/members'), ask('GET', '/account/invitations')]);
  const made = h('div');
  const email = h('input', {type: 'email', required: true});
  const role = roleSelect('viewer');
  return h('div', null, h('h2', null, 'Members'), made,
    form([field('E-mail address', email), field('Role', role, 'Viewers read; members change; owners manage keys, members and money.')],
      'Invite', async () => {
        const one = await ask('POST', '/account/invitations', {email: email.value, role: role.value});
        replace(made, once(`The invitation of ${one.email}`, one.link, h('p', null, 'Send it to them. It works once, for 72 hours.')));
      }),
    table('Members', [
      ['Address', m => m.email],
      ['Role', m => roleSelect(m.role, event => guarded(async () => {
        await ask('POST', `/account/members/${encodeURIComponent(m.email)}/update`, {role: event.target.value});
        say('Changed.');
      }))],
      ['Since', m => when(m.created_at)],
      ['Sessions', m => number(m.sessions), 'n'],
      ['Actions', m => m.email !== session.now.email && sureButton('Remove', 'Remove and sign out?', async () => {
        await ask('DELETE', `/account/members/${encodeURIComponent(m.email)}`);
        say('Removed.');
        again();
      })],
    ], all),
    table('Invited', [
      ['Address', i => i.email],
      ['Role', i => i.role],
      ['Until', i => when(i.expires_at)],
      ['By', i => i.invited_by],
      ['Actions', i => sureButton('Withdraw', 'Withdraw it?', async () => {
        await ask('DELETE', `/account/invitations/${i.id}`);
        again();
      })],
    ], invitations, 'Nobody waits.'));
}
