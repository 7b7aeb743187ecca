// Signing in by address and password, and by the link of an invitation.

import {ask} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './parts.js';

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
