// Signing in by address and password, by a passkey or by the identity provider; by the link of an invitation, and by one to a
// new password; and the sessions that are open.

import {ask} from './api.js';
import {badge, h, replace, table, when} from './dom.js';
import {button, field, form, say, sureButton} from './parts.js';
import {makePasskey, showPasskey, waysIn} from './passkeys.js';

const SORRY = {
  ended: 'Your session has ended. Sign in again to go on.',
  expired: 'That sign-in took too long, or was begun in another browser.',
  refused: 'The identity provider did not say who you are.',
  unavailable: 'The identity provider cannot be reached.',
  unknown: 'You are a member of no organisation here: ask an owner of yours for an invitation.',
  invitation: 'The invitation was used, has expired, or is for another address than the identity provider knows you by.',
  elsewhere: 'Your organisation has moved here from another cell of the service: sign in again, or open your invitation again.',
  moving: 'Your organisation is on its way to another cell of the service: sign in again in a minute.',
};

function passwordInput(kind) {
  return h('input', {type: 'password', required: true, autocomplete: kind, maxlength: 200});
}

async function goToProvider(invitation) {
  const {url} = await ask('POST', '/dashboard/provider/sign-in', {invitation});
  location.assign(url);
}

// What a person who is a member of several organisations chooses; `enter` gets the id of one.
function choices(all, enter) {
  return [h('h2', null, 'Which organisation?'), h('ul', {class: 'offers'}, all.map(one =>
    h('li', null, button([h('bdi', null, one.organisation), `, as ${one.role}`], () => enter(one.org_id)))))];
}

const choose = org_id => ask('POST', '/dashboard/sign-in/choose', {org_id});

// One who has shown who he is chooses an organisation.
export async function choice(entered) {
  const {choose: all} = await choose();
  return h('div', null, choices(all, async id => entered(await choose(id))));
}

// `entered` is called with the session; `sorry`: why a sign-in at the provider came to nothing.
export async function signIn(entered, sorry) {
  const ways = await waysIn();
  const email = h('input', {type: 'email', required: true, autocomplete: 'username webauthn'});
  const password = passwordInput('current-password');
  const box = h('div');
  const enter = async org_id => {
    const answer = await ask('POST', '/dashboard/sign-in', {email: email.value, password: password.value, org_id});
    if (!answer.choose) return entered(answer);
    replace(box, choices(answer.choose, enter));
  };
  const byPasskey = async () => {
    const answer = await ask('POST', '/dashboard/passkeys/sign-in', await showPasskey(email.value));
    if (!answer.choose) return entered(answer);
    replace(box, choices(answer.choose, async id => entered(await choose(id))));
  };
  replace(box, h('h2', null, 'Sign in'), sorry && h('p', {class: 'bad', role: 'alert'}, SORRY[sorry] ?? SORRY.refused),
    form([field('E-mail address', email), field('Password', password)], 'Sign in', () => enter(undefined)),
    h('p', {class: 'buttons'}, ways.passkeys && button('Sign in with a passkey', byPasskey), ' ',
      ways.provider && button(`Sign in with ${ways.provider}`, () => goToProvider())));
  return box;
}

export async function invitation(token, entered) {
  const [found, ways] = await Promise.all([ask('POST', '/dashboard/invitation', {token}), waysIn()]);
  const known = found.has_password || found.has_passkey;
  const password = passwordInput(known ? 'current-password' : 'new-password');
  const take = async shown => entered(await ask('POST', '/dashboard/invitation/take', {token, ...shown}));
  const byNew = async () => take({passkey: await makePasskey(await ask('POST', '/dashboard/invitation/passkey', {token}))});
  const head = [h('h2', null, `Join ${found.organisation}`), h('p', null, `${found.email} is invited as ${found.role}.`)];
  const byProvider = ways.provider && button(`Join with ${ways.provider}`, () => goToProvider(token));
  if (found.by_provider) {
    return h('div', null, head, h('p', null, 'You are a member by the identity provider, which alone lets you in.'), h('p', {class: 'buttons'}, byProvider));
  }
  return h('div', null, head,
    (!known || found.has_password) && form([field(known ? 'Your password' : 'A password for the next time', password,
      !known && 'At least 12 characters.')], 'Join', () => take({password: password.value})),
    h('p', {class: 'buttons'},
      ways.passkeys && !known && button('Join with a new passkey instead', byNew),
      ways.passkeys && found.has_passkey && button('Join with your passkey', async () => take({own_passkey: await showPasskey(found.email)})),
      ' ', byProvider));
}

// The link to a new password.
export async function reset(token) {
  const {email} = await ask('POST', '/dashboard/reset', {token});
  const password = passwordInput('new-password');
  const box = h('div');
  replace(box, h('h2', null, 'A new password'), h('p', null, `For ${email}. You are signed out everywhere, and your passkeys go.`),
    form([field('New password', password, 'At least 12 characters.')], 'Set it', async () => {
      await ask('POST', '/dashboard/reset/take', {token, password: password.value});
      replace(box, h('h2', null, 'A new password'), h('p', null, 'It is set. ', h('a', {href: '#/'}, 'Sign in'), ' with it.'));
    }));
  return box;
}

function passwordForm(has) {
  const current = passwordInput('current-password');
  const password = passwordInput('new-password');
  return form([has && field('Present password', current), field('New password', password, 'At least 12 characters.')],
    has ? 'Change the password' : 'Set a password', async () => {
      const now = await ask('POST', '/dashboard/password', {current_password: has ? current.value : undefined, password: password.value});
      dispatchEvent(new CustomEvent('vedette-entered', {detail: now}));
      say('It is set, and every other session has ended.');
    });
}

// What one signs in with oneself.
export async function ways() {
  const [{passkeys: all, has_password: has, by_provider: byProvider}, {passkeys: possible}] =
    await Promise.all([ask('GET', '/dashboard/passkeys'), waysIn()]);
  const again = () => dispatchEvent(new HashChangeEvent('hashchange'));
  const name = h('input', {required: true, maxlength: 100, placeholder: 'My laptop'});
  return h('div', null, h('h2', null, 'Signing in'),
    byProvider && h('p', null, 'The identity provider alone lets you in here: you need neither a passkey nor a password.'),
    h('h3', null, 'Passkeys'),
    table('Yours', [
      ['Name', k => k.name],
      ['Since', k => when(k.created_at)],
      ['Last used', k => when(k.last_used_at)],
      ['Actions', k => sureButton('Remove', 'Remove it?', async () => {
        await ask('DELETE', `/dashboard/passkeys/${k.id}`);
        say('Removed.');
        again();
      })],
    ], all, possible ? 'You have none.' : 'You have none, and this browser or this address has none to give.'),
    possible && !byProvider && form([field('Name', name, 'By which you tell it from others.')], 'Add a passkey', async () => {
      await ask('POST', '/dashboard/passkeys', {passkey: await makePasskey(await ask('POST', '/dashboard/passkeys/options', {}), name.value)});
      say('Added.');
      again();
    }),
    !byProvider && [h('h3', null, 'Password'), passwordForm(has)]);
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
