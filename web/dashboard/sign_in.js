// Signing in by address and password, and by the link of an invitation; and the sessions that are open.

import {ask} from './api.js';
import {badge, h, replace, table, when} from './dom.js';
import {field, form, sureButton} from './parts.js';

function passwordInput(kind) {
  return h('input', {type: 'password', required: true, autocomplete: kind, maxlength: 200});
}

// `entered` is called with the session.
export function signIn(entered) {
  const email = h('input', {type: 'email', required: true, autocomplete: 'username'});
  const password = passwordInput('current-password');
  const box = h('div');
  const enter = async org_id => {
    const answer = await ask('POST', '/dashboard/sign-in', {email: email.value, password: password.value, org_id});
    if (!answer.choose) return entered(answer);
    replace(box, h('h2', null, 'Which organisation?'), h('ul', null, answer.choose.map(one =>
      h('li', null, h('button', {type: 'button', click: () => enter(one.org_id)}, `${one.organisation}, as ${one.role}`)))));
  };
  replace(box, h('h2', null, 'Sign in'),
    form([field('E-mail address', email), field('Password', password)], 'Sign in', () => enter(undefined)));
  return box;
}

export async function invitation(token, entered) {
  const found = await ask('POST', '/dashboard/invitation', {token});
  const password = passwordInput(found.has_password ? 'current-password' : 'new-password');
  return h('div', null, h('h2', null, `Join ${found.organisation}`),
    h('p', null, `${found.email} is invited as ${found.role}.`),
    form([field(found.has_password ? 'Your password' : 'A password for the next time', password,
      !found.has_password && 'At least 12 characters.')], 'Join',
    async () => entered(await ask('POST', '/dashboard/invitation/take', {token, password: password.value}))));
}

// The sessions of the one who is signed in, on this and other devices.
export async function sessions() {
  const {sessions: all} = await ask('GET', '/dashboard/sessions');
  return h('div', null, h('h2', null, 'Sessions'),
    h('p', null, 'Where you are signed in to this organisation. A session ends after 12 hours by itself.'),
    h('p', null, sureButton('Sign out everywhere', 'End all of them, this one, too?', async () => {
      await ask('DELETE', '/dashboard/sessions');
      dispatchEvent(new Event('vedette-left'));
    })),
    table('Sessions', [
      ['Since', s => when(s.created_at)],
      ['Until', s => when(s.expires_at)],
      ['Which', s => s.current ? badge('this one', 'good') : 'another'],
    ], all));
}
