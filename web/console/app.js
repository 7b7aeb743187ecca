// The console: which page the address names, and the token or the session without which there is none.

import {goToProvider, learnWho, may, me, signOut, token, waysIn} from './api.js';
import {audit} from './audit.js';
import {cells} from './cells.js';
import {changes} from './changes.js';
import {channel, channels} from './channels.js';
import {deliveries, delivery} from './deliveries.js';
import {duration, edited, exactTimes, h, places, renewTimes, replace} from './dom.js';
import {email} from './email.js';
import {job, jobs} from './jobs.js';
import {keys} from './keys.js';
import {changeMonitor, newMonitor} from './monitor_form.js';
import {monitor, monitors} from './monitors.js';
import {organisation, organisations} from './organisations.js';
import {overview} from './overview.js';
import {privacy} from './privacy.js';
import {rowPage} from './rows.js';
import {run, runs} from './runs.js';
import {changeSchedule, newSchedule, schedule, schedules} from './schedules.js';
import {tickPage} from './ticks.js';

const ID = '([0-9a-f-]{36})';
const TICK = '([0-9]+)';
// Which addresses there are, what shows each, and who may see it where that is not everybody.
const PAGES = [
  ['', overview],
  ['monitors', monitors],
  [`monitors/${ID}`, monitor],
  [`monitors/${ID}/change`, changeMonitor, 'operator'],
  [`monitors/${ID}/rows/${ID}`, rowPage],
  [`monitors/${ID}/ticks/${TICK}`, tickPage],
  [`monitors/${ID}/changes`, changes],
  ['changes', changes],
  ['jobs', jobs],
  [`jobs/${ID}`, job],
  ['runs', runs],
  [`runs/${ID}`, run],
  ['schedules', schedules],
  [`schedules/${ID}`, schedule],
  [`schedules/${ID}/change`, changeSchedule, 'operator'],
  ['email', email],
  ['deliveries', deliveries],
  [`deliveries/${ID}`, delivery],
  ['organisations', organisations],
  [`organisations/${ID}`, organisation],
  [`organisations/${ID}/new-monitor`, newMonitor, 'operator'],
  [`organisations/${ID}/workflows/${ID}/new-schedule`, newSchedule, 'operator'],
  [`organisations/${ID}/channels`, channels],
  [`organisations/${ID}/channels/${ID}`, channel],
  ['cells', cells],
  ['privacy', privacy],
  ['keys', keys],
  ['audit', audit],
].map(([pattern, page, role = 'viewer']) => [new RegExp(`^${pattern}$`), page, role]);

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const age = document.getElementById('age');
const times = document.getElementById('times');
const who = document.getElementById('who');
const said = document.getElementById('said');
const leaveButton = document.getElementById('leave');
const RENEW_MS = 10000;
const OLD_MS = 3 * RENEW_MS;  // what is shown longer than this is old
let leavePage = null;  // ends what the present page renews; such a page is not renewed from here
let shownAt = null;    // when what is shown was read; null: the page shows nothing that gets old
let renewing = false;
let trouble = null;    // why the last renewal failed

// Why a sign-in at the identity provider came to nothing.
const SORRY = {
  expired: 'That sign-in took too long, or was begun in another browser. Sign in again.',
  refused: 'The identity provider did not say who you are. The log of the process that answered says why.',
  unavailable: 'The identity provider cannot be reached. A token lets you in meanwhile.',
  no_role: 'You have signed in, but have no role here. Ask an admin of vedette to give you one: by a value of the claim that '
    + '[admin.oidc] role_claim names, at the identity provider, which stands among its viewers, operators or admins.',
};

function signInButton(provider, wrong) {
  const button = h('button', {type: 'button', class: 'primary', click: async () => {
    button.disabled = true;
    try {
      await goToProvider();
    } catch (e) {
      replace(wrong, e.message || 'the admin port cannot be reached');
    } finally {
      button.disabled = false;
    }
  }}, `Sign in with ${provider}`);
  return h('p', null, button);
}

async function login(message) {
  nav.hidden = true;
  shownAt = null;
  document.title = 'Log in · vedette';
  replace(main);  // what was shown is gone at once
  const {provider} = await waysIn();
  if (main.firstChild !== null) return;
  const wrong = h('p', {class: 'bad', role: 'alert'}, message);
  const input = h('input', {id: 'token', name: 'token', type: 'password', required: true,
                            autocomplete: 'current-password'});
  const kept = h('input', {id: 'kept', name: 'kept', type: 'checkbox'});
  replace(main, provider && h('section', {class: 'login'}, h('h2', null, 'Sign in'), wrong, signInButton(provider, wrong)),
    h('form', {class: 'login', submit: async event => {
    event.preventDefault();
    token.set(input.value.trim(), kept.checked);
    show();
  }},
    h('h2', null, 'Admin token'),
    !provider && message && wrong,
    h('p', null, h('label', {for: 'token'}, 'One of the tokens under [admin.tokens]'), input),
    h('p', {class: 'choice'}, kept, h('label', {for: 'kept'}, 'Keep it in this browser, for other tabs and until it is forgotten')),
    h('p', null, h('button', {type: 'submit', class: provider ? '' : 'primary'}, 'Open'))));
  (provider ? main.querySelector('button') : input).focus();
}

function markNav(path) {
  for (const link of nav.querySelectorAll('a')) {
    const target = link.getAttribute('href').slice(2);
    const here = target === '' ? path === '' : path.split('/')[0] === target;
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

// The page that the address names: [what shows it, the ids of the address, its filter, its role]; null where there is none.
function pageHere() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const [match, page, role] = PAGES.map(([pattern, ...rest]) => [pattern.exec(path), ...rest]).find(([m]) => m) ?? [];
  return match ? [page, match.slice(1), Object.fromEntries(new URLSearchParams(search ?? '')), role] : null;
}

function leave() {
  replace(said);
  leavePage?.();
  leavePage = null;
  shownAt = null;
  trouble = null;
}

// A page that renews itself says by this, with what it shows, that it has read it just now.
function seen(view) {
  if (!view.isConnected) return;
  shownAt = Date.now();
  trouble = null;
}

// Each visit has an element of its own, so that an answer that comes late cannot overwrite the next page.
async function show() {
  leave();
  const sorry = location.hash.match(/^#\/sorry\/(\w+)$/)?.[1];
  if (sorry) {
    history.replaceState(null, '', '#/');
    return login(SORRY[sorry] ?? SORRY.refused);
  }
  if (!token.get() && me.name === null && !(await waysIn()).session) return login();
  const view = h('div', null, h('p', {class: 'note'}, 'Loading …'));
  replace(main, view);
  nav.hidden = false;
  markNav(location.hash.replace(/^#\/?/, '').split('?')[0]);
  const here = pageHere();
  if (here === null) {
    document.title = 'No such page · vedette';
    return replace(view, h('h2', null, 'No such page'), h('p', null, h('a', {href: '#/'}, 'Overview')));
  }
  const [page, ids, filter, role] = here;
  try {
    if (me.name === null) await learnWho();
    replace(who, me.name && `${me.name} (${me.role})`);
    replace(leaveButton, token.get() ? 'Forget token' : 'Sign out');
    if (!may(role)) throw new Error(`This needs the role ${role}; ${token.get() ? 'the token ' : ''}${me.name} has the role ${me.role}.`);
    const end = await page(view, ids, filter, () => seen(view));
    if (!view.isConnected) return end?.();
    leavePage = end ?? null;
    if (!end) seen(view);
    document.title = `${view.querySelector('h2')?.textContent ?? 'console'} · vedette`;
  } catch (e) {
    if (!view.isConnected) return;
    if (e.status === 401) {
      const shown = token.get();
      token.forget();
      return login(shown ? 'That token is not one of them.' : 'Your session has ended. Sign in again.');
    }
    document.title = 'That did not work · vedette';
    replace(view, h('h2', null, 'That did not work'), h('p', {class: 'bad', role: 'alert'}, e.message),
      h('p', null, h('button', {type: 'button', click: show}, 'Try again')));
  }
}

// Nothing that somebody writes, has chosen or has made longer is taken away by a renewal.
function busy() {
  const active = document.activeElement;
  return document.querySelector('dialog[open], [data-extended]') !== null || !getSelection().isCollapsed
    || main.contains(active) && active.matches('input, select, textarea') || edited(main);
}

const mayRenew = () =>
  document.visibilityState === 'visible' && !renewing && shownAt !== null && leavePage === null && !busy();

// Reads the present page again and puts it in the place of what is shown, where nobody has gone on meanwhile.
async function renew() {
  const here = pageHere();
  const old = main.firstElementChild;
  if (here === null || old === null) return;
  const [page, ids, filter] = here;
  renewing = true;
  try {
    const view = h('div');
    await page(view, ids, filter, () => {});
    if (old.isConnected && !busy()) {
      const restore = places(old);
      old.replaceWith(view);
      restore(view);
      seen(view);
    }
  } catch (e) {
    if (old.isConnected) trouble = e.message;  // the age of what is shown goes on growing
  } finally {
    renewing = false;
  }
}

function tellAge() {
  const old = shownAt === null ? 0 : Date.now() - shownAt;
  const why = trouble ?? (busy() && old > RENEW_MS ? 'not renewed while you are at it' : null);
  replace(age, shownAt !== null && `shown as it was ${duration(old)} ago${why === null ? '' : `: ${why}`}`);
  // A page that renews itself does it every few seconds.
  age.classList.toggle('bad', old > (leavePage === null ? OLD_MS : RENEW_MS) || shownAt !== null && trouble !== null);
  return old;
}

setInterval(() => {
  const old = tellAge();
  if (getSelection().isCollapsed) renewTimes();
  if (old >= RENEW_MS && mayRenew()) renew();
}, 1000);

function showTimes() {
  times.setAttribute('aria-pressed', exactTimes.get());
  document.body.classList.toggle('exact-times', exactTimes.get());
}

times.addEventListener('click', () => {
  exactTimes.set(!exactTimes.get());
  showTimes();
});
document.getElementById('renew').addEventListener('click', show);
leaveButton.addEventListener('click', async () => {
  if (token.get()) token.forget();
  else await signOut().catch(() => {});
  leave();
  login();
});
addEventListener('storage', event => {
  if (!token.goneWith(event)) return;
  leave();
  login('The token was forgotten in another tab.');
});
addEventListener('hashchange', show);
addEventListener('click', () => replace(said), {capture: true});  // of the click before
// Nothing is refused in silence. What a dialog asks for it tells of itself: what is left was only read.
addEventListener('unhandledrejection', event => {
  const {message, status} = event.reason ?? {};
  if (status === undefined) return;  // a fault of the page, for the browser's own log
  event.preventDefault();
  if (status === 401) return void show();
  replace(said, `It could not be read: ${message}. What the page shows may be old.`);
});
showTimes();
show();
