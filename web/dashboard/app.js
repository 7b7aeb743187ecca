// The dashboard of an organisation: which page the address names, and who is signed in.

import {ask, readSession, renewSession, session} from './api.js';
import {audit} from './audit.js';
import {channels} from './channels.js';
import {deliveries} from './deliveries.js';
import {edited, h, replace} from './dom.js';
import {keys, signing} from './keys.js';
import {members} from './members.js';
import {lookups} from './lookups.js';
import {monitor, monitorRow} from './monitor.js';
import {changeMonitor, newMonitor} from './monitor_form.js';
import {monitors} from './monitors.js';
import {overview} from './overview.js';
import {again, button, guarded, say} from './parts.js';
import {run, runs} from './runs.js';
import {schedules} from './schedules.js';
import {choice, invitation, reset, sessions, signIn, ways} from './sign_in.js';
import {usage} from './usage.js';

const ID = '([0-9a-f-]{36})';
// [pattern, page, role that it needs, its name in the navigation]
const PAGES = [
  ['', overview, 'viewer', 'Overview'],
  ['monitors', monitors, 'viewer', 'Monitors'],
  ['monitors/new', newMonitor, 'member'],
  [`monitors/${ID}`, monitor, 'viewer'],
  [`monitors/${ID}/change`, changeMonitor, 'member'],
  [`monitors/${ID}/rows/${ID}`, monitorRow, 'viewer'],
  ['runs', runs, 'viewer', 'Runs'],
  [`runs/${ID}`, run, 'viewer'],
  ['schedules', schedules, 'viewer', 'Schedules'],
  ['lookups', lookups, 'member', 'Lookups'],
  ['channels', channels, 'viewer', 'Channels'],
  ['deliveries', deliveries, 'owner', 'Deliveries'],
  ['usage', usage, 'owner', 'Usage'],
  ['keys', keys, 'owner', 'Keys'],
  ['signing', signing, 'owner', 'Signing secret'],
  ['members', members, 'owner', 'Members'],
  ['audit', audit, 'owner', 'Audit'],
  ['ways', ways, 'viewer', 'Signing in'],
  ['sessions', sessions, 'viewer', 'Sessions'],
];

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const who = document.getElementById('who');
const said = document.getElementById('said');
const LOADING = 'Loading …';
const LONG_MS = 500;
let shown = 0;  // counts pages, so that one that comes late is dropped
let waits = null;  // to say that the next page loads
let ended = false;  // whether the sign-in form stands in a page's place as its session is over

const whoIs = ({email, role, team, organisation}) => [h('bdi', null, email), `, ${role} of `, team && [h('bdi', null, team), ', '],
  h('bdi', null, organisation)];

function showNav(path) {
  nav.hidden = session.now === null;
  if (session.now === null) return replace(who);
  replace(nav, PAGES.filter(([, , role, name]) => name && session.may(role)).map(([pattern, , , name]) =>
    h('a', {href: `#/${pattern}`, 'aria-current': path.split('/')[0] === pattern ? 'page' : false}, name)));
  replace(who, whoIs(session.now), h('button', {type: 'button', click: () => guarded(leave)}, 'Sign out'));
}

async function leave() {
  await ask('DELETE', '/dashboard/session');
  left();
}

// Nobody is signed in any more; what stands on the page goes.
function left() {
  session.now = null;
  session.unread = null;
  ended = false;
  say('');
  history.replaceState(null, '', '#/');
  show();
}

// Nobody knows whether somebody is signed in.
function unread(why) {
  return h('div', null, h('h2', null, 'Who is signed in could not be read'), h('p', {class: 'bad', role: 'alert'}, why.message),
    h('p', null, button('Try again', async () => again())));
}

const noPage = (title, why) => [h('h2', null, title), h('p', {class: 'bad', role: 'alert'}, why)];

async function pageOf(path, search) {
  const invited = /^invitation\/(vd_inv_[0-9A-Za-z_]+)$/.exec(path);
  if (invited) return invitation(invited[1], entered);
  const forgotten = /^reset\/(vd_rst_[0-9A-Za-z_]+)$/.exec(path);
  if (forgotten) return reset(forgotten[1]);
  const sorry = /^sorry\/([a-z]+)$/.exec(path)?.[1];
  if (session.now === null && session.unread) return unread(session.unread);
  if (path === 'choose') return choice(entered);
  if (session.now === null || sorry) return signIn(entered, ended ? 'ended' : sorry);
  for (const [pattern, page, role] of PAGES) {
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (!match) continue;
    if (!session.may(role)) return noPage('Not for your role', `This page is for the role ${role}.`);
    return page(...match.slice(1), Object.fromEntries(new URLSearchParams(search ?? '')));
  }
  return noPage('No such page', 'There is no such page.');
}

function entered(now) {
  session.now = now;
  ended = false;
  say('');
  if (/^#\/(invitation|sorry|choose)/.test(location.hash)) history.replaceState(null, '', '#/');
  show();
}

// The session is another one than the page was made for: it has ended, its role was changed, or another tab has signed in.
function changed(before) {
  ended = before !== null && session.now === null;
  const now = session.now && whoIs(session.now);
  if (!before || !now) say('');
  else if (before.email === session.now.email && before.organisation === session.now.organisation) say('What you may do was changed: you are ', now, '.');
  else say('Another tab has signed in as ', now, '. This page shows that from here on.');
  show();
}

// What is shown is the page before until the next has been read, which is said where it takes long.
function load(goesOn) {
  clearTimeout(waits);
  const loading = said.textContent === LOADING;
  if (!goesOn) {
    main.removeAttribute('aria-busy');
    return loading && say('');
  }
  main.setAttribute('aria-busy', 'true');
  waits = setTimeout(() => said.textContent === '' && say(LOADING), LONG_MS);
}

async function go(event) {
  const turn = ++shown;
  if (event.isTrusted) say('');  // of the page before; one that is shown again keeps what was done there
  load(true);
  try {
    if (await renewSession() || turn !== shown) return;
  } catch {
    // The page says why it cannot be read.
  }
  show();
}

async function show() {
  const turn = ++shown;
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  showNav(path);
  load(true);
  let content;
  try {
    content = await pageOf(path, search);
  } catch (e) {
    content = noPage('That did not work', e.message);
  }
  if (turn !== shown) return;
  load(false);
  replace(main, content);
  document.title = `${main.querySelector('h2')?.textContent ?? 'vedette'} · vedette`;
  main.focus({preventScroll: true});
}

session.now = await readSession().catch(() => null);
addEventListener('hashchange', go);
addEventListener('visibilitychange', () => document.hidden || edited(main) || renewSession().catch(() => {}));
addEventListener('vedette-session', event => changed(event.detail));
addEventListener('vedette-left', left);
addEventListener('vedette-entered', event => entered(event.detail));
show();
