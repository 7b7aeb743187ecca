// The console: which page the address names, and the token without which there is none.

import {token} from './api.js';
import {audit} from './audit.js';
import {deliveries, delivery} from './deliveries.js';
import {duration, h, replace} from './dom.js';
import {email} from './email.js';
import {job, jobs} from './jobs.js';
import {changeMonitor, newMonitor} from './monitor_form.js';
import {monitor, monitors} from './monitors.js';
import {organisation, organisations} from './organisations.js';
import {overview} from './overview.js';
import {rowPage} from './rows.js';
import {run, runs} from './runs.js';
import {tickPage} from './ticks.js';

const ID = '([0-9a-f-]{36})';
const TICK = '([0-9]+)';
const PAGES = [
  ['', overview],
  ['monitors', monitors],
  [`monitors/${ID}`, monitor],
  [`monitors/${ID}/change`, changeMonitor],
  [`monitors/${ID}/rows/${ID}`, rowPage],
  [`monitors/${ID}/ticks/${TICK}`, tickPage],
  ['jobs', jobs],
  [`jobs/${ID}`, job],
  ['runs', runs],
  [`runs/${ID}`, run],
  ['email', email],
  ['deliveries', deliveries],
  [`deliveries/${ID}`, delivery],
  ['organisations', organisations],
  [`organisations/${ID}`, organisation],
  [`organisations/${ID}/new-monitor`, newMonitor],
  ['audit', audit],
].map(([pattern, page]) => [new RegExp(`^${pattern}$`), page]);

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const age = document.getElementById('age');
const RENEW_MS = 10000;
let leavePage = null;  // ends what the present page renews
let shownAt = null;    // when what is shown was read; null: the page says so itself
let renewing = false;

function login(message) {
  nav.hidden = true;
  const input = h('input', {id: 'token', name: 'token', type: 'password', required: true,
                            autocomplete: 'current-password'});
  replace(main, h('form', {class: 'login', submit: async event => {
    event.preventDefault();
    token.set(input.value.trim());
    show();
  }},
    h('h2', null, 'Admin token'),
    message && h('p', {class: 'bad', role: 'alert'}, message),
    h('p', null, h('label', {for: 'token'}, 'One of the tokens under [admin.tokens]'), input),
    h('p', null, h('button', {type: 'submit', class: 'primary'}, 'Open'))));
  input.focus();
}

function markNav(path) {
  for (const link of nav.querySelectorAll('a')) {
    const target = link.getAttribute('href').slice(2);
    const here = target === '' ? path === '' : path.split('/')[0] === target;
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

// Each visit has an element of its own, so that an answer that comes late cannot overwrite the next page.
async function show() {
  leavePage?.();
  leavePage = null;
  shownAt = null;
  if (!token.get()) return login();
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const filter = Object.fromEntries(new URLSearchParams(search ?? ''));
  const view = h('div', null, h('p', {class: 'note'}, 'Loading …'));
  replace(main, view);
  nav.hidden = false;
  markNav(path);
  const found = PAGES.map(([pattern, page]) => [pattern.exec(path), page]).find(([match]) => match);
  if (!found) {
    document.title = 'No such page · vedette';
    return replace(view, h('h2', null, 'No such page'), h('p', null, h('a', {href: '#/'}, 'Overview')));
  }
  const [match, page] = found;
  try {
    const leave = await page(view, match.slice(1), filter);
    if (!view.isConnected) return leave?.();
    leavePage = leave ?? null;
    shownAt = leave ? null : Date.now();
    document.title = `${view.querySelector('h2')?.textContent ?? 'console'} · vedette`;
  } catch (e) {
    if (e.status === 401 && view.isConnected) {
      token.forget();
      return login('That token is not one of them.');
    }
    document.title = 'That did not work · vedette';
    replace(view, h('h2', null, 'That did not work'), h('p', {class: 'bad', role: 'alert'}, e.message),
      h('p', null, h('button', {type: 'button', click: show}, 'Try again')));
  }
}

// Nothing that somebody writes, has chosen or looks at further down is taken away by a renewal.
function mayRenew() {
  const busy = document.querySelector('dialog[open], [data-extended]') !== null
    || main.contains(document.activeElement) && document.activeElement !== main
    || !getSelection().isCollapsed;
  return document.visibilityState === 'visible' && !busy && !renewing && shownAt !== null;
}

// Reads the present page again and puts it in the place of what is shown, where nobody has gone on meanwhile.
async function renew() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const [match, page] = PAGES.map(([pattern, p]) => [pattern.exec(path), p]).find(([m]) => m) ?? [];
  const old = main.firstElementChild;
  if (!match || old === null) return;
  renewing = true;
  try {
    const view = h('div');
    await page(view, match.slice(1), Object.fromEntries(new URLSearchParams(search ?? '')));
    if (old.isConnected && !document.querySelector('dialog[open]')) {
      old.replaceWith(view);
      shownAt = Date.now();
    }
  } catch {
    // The age of what is shown goes on growing.
  } finally {
    renewing = false;
  }
}

setInterval(() => {
  const old = shownAt === null ? 0 : Date.now() - shownAt;
  replace(age, shownAt !== null && `shown as it was ${duration(old)} ago`);
  age.classList.toggle('bad', old > 6 * RENEW_MS);
  if (old >= RENEW_MS && mayRenew()) renew();
}, 1000);

document.getElementById('leave').addEventListener('click', () => {
  token.forget();
  leavePage?.();
  leavePage = null;
  login();
});
addEventListener('hashchange', show);
show();
