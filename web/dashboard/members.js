// The members who may sign in, and the people who are invited to.

import {ask, session} from './api.js';
import {badge, h, number, table, when} from './dom.js';
import {again, field, form, guarded, once, say, sureButton, withSecrets} from './parts.js';

const ROLES = ['viewer', 'member', 'owner'];

function roleSelect(chosen, change) {
  return h('select', {'aria-label': 'Role', change}, ROLES.map(role => h('option', {value: role, selected: role === chosen}, role)));
}

// The teams to which a viewer or a member may be limited; nothing where there are none.
function teamSelect(teams, chosen, change) {
  return h('select', {'aria-label': 'Team', change}, h('option', {value: ''}, 'the whole organisation'),
    teams.map(team => h('option', {value: team.id, selected: team.id === chosen}, team.name)));
}

// An owner is of the whole organisation.
const roleOf = role => role === 'owner' ? {role, team_id: null} : {role};

export const members = () => withSecrets('Members', async (made, read) => {
  const [{members: all, teams}, {invitations}] = await Promise.all([ask('GET', '/account/members'), ask('GET', '/account/invitations')]);
  const email = h('input', {type: 'email', required: true});
  const role = roleSelect('viewer');
  const team = teamSelect(teams, null);
  const nameOf = id => teams.find(one => one.id === id)?.name ?? (id ? 'a team that is gone' : 'all');
  // One after the other: what is sent of a member is made of what the change before has left.
  const change = (m, bodyOf, {target: select}) => {
    const {value} = select;
    const sent = (m.sent ?? Promise.resolve()).then(async () => {
      try {
        const body = bodyOf(value);
        await ask('POST', `/account/members/${encodeURIComponent(m.email)}/update`, body);
        Object.assign(m, body);
        say('Changed.');
        if (m.email === session.now.email) again();
        else if ('team_id' in body) await read();
      } catch (e) {
        select.value = select.getAttribute('aria-label') === 'Role' ? m.role : m.team_id ?? '';
        throw e;
      }
    });
    m.sent = sent.catch(() => {});
    return guarded(() => sent);
  };
  return [
    form([field('E-mail address', email), field('Role', role, 'Viewers read; members change; owners manage keys, members and money.'),
      teams.length > 0 && field('Team', team, 'What they see and change; owners are of the whole organisation.')],
      'Invite', async () => {
        const one = await ask('POST', '/account/invitations', {email: email.value, role: role.value, team_id: team.value || null});
        await made(once(`The invitation of ${one.email}`, one.link, h('p', null, 'Send it to them. It works once, for 72 hours.')));
      }),
    table('Members', [
      ['Address', m => [m.email, m.by_provider && ' ', m.by_provider && badge('by the identity provider', 'off')]],
      ['Role', m => roleSelect(m.role, event => change(m, roleOf, event))],
      teams.length > 0 && ['Team', m => teamSelect(teams, m.team_id, event => change(m, value => ({role: m.role, team_id: value || null}), event))],
      ['Since', m => when(m.created_at)],
      ['Sessions', m => number(m.sessions), 'n'],
      ['Actions', m => m.email !== session.now.email && h('span', {class: 'buttons'},
        !m.by_provider && sureButton('New password', 'Make a link that replaces it?', async () => {
          const link = await ask('POST', `/account/members/${encodeURIComponent(m.email)}/reset`, {});
          await made(once(`A new password for ${link.email}`, link.link, h('p', null, 'Send it to them. It works once, for 24 hours.')));
        }),
        ' ', sureButton('Remove', 'Remove and sign out?', async () => {
          await ask('DELETE', `/account/members/${encodeURIComponent(m.email)}`);
          say('Removed.');
          await read();
        }))],
    ].filter(Boolean), all),
    table('Invited', [
      ['Address', i => i.email],
      ['Role', i => i.role],
      teams.length > 0 && ['Team', i => nameOf(i.team_id)],
      ['Until', i => when(i.expires_at)],
      ['By', i => i.invited_by],
      ['Actions', i => sureButton('Withdraw', 'Withdraw it?', async () => {
        await ask('DELETE', `/account/invitations/${i.id}`);
        await read();
      })],
    ].filter(Boolean), invitations, 'Nobody waits.')];
});
