// The console: which page the address names, and the token without which there is none.

import {token} from './api.js';
import {audit} from './audit.js';
import {deliveries, delivery} from './deliveries.js';
import {h, replace} from './dom.js';
import {job, jobs} from './jobs.js';
import {monitor, monitors, rowEvents} from './monitors.js';
import {organisation, organisations} from './organisations.js';
import {overview} from './overview.js';

const ID = '([0-9a-f-]{36})';
const PAGES = [
  ['', overview],
  ['monitors', monitors],
  [`monitors/${ID}`, monitor],
  [`monitors/${ID}/rows/${ID}`, rowEvents],
  ['jobs', jobs],
  [`jobs/${ID}`, job],
  ['deliveries', deliveries],
  [`deliveries/${ID}`, delivery],
  ['organisations', organisations],
  [`organisations/${ID}`, organisation],
  ['audit', audit],
].map(([pattern, page]) => [new RegExp(`^${pattern}$`), page]);

const main = document.getElementById('main');
const nav = document.getElementById('nav');
let leavePage = null;  // ends what the present page renews

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
  if (!token.get()) return login();
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const filter = Object.fromEntries(new URLSearchParams(search ?? ''));
  const view = h('div', null, h('p', {class: 'note'}, 'Loading …'));
  replace(main, view);
  nav.hidden = false;
  markNav(path);
  const found = PAGES.map(([pattern, page]) => [pattern.exec(path), page]).find(([match]) => match);
  if (!found) {
    return replace(view, h('h2', null, 'No such page'), h('p', null, h('a', {href: '#/'}, 'Overview')));
  }
  const [match, page] = found;
  try {
    const leave = await page(view, match.slice(1), filter);
    if (!view.isConnected) return leave?.();
    leavePage = leave ?? null;
    document.title = `${view.querySelector('h2')?.textContent ?? 'console'} · vedette`;
  } catch (e) {
    if (e.status === 401 && view.isConnected) {
      token.forget();
      return login('That token is not one of them.');
    }
    replace(view, h('h2', null, 'That did not work'), h('p', {class: 'bad', role: 'alert'}, e.message),
      h('p', null, h('button', {type: 'button', click: show}, 'Try again')));
  }
}

document.getElementById('leave').addEventListener('click', () => {
  token.forget();
  leavePage?.();
  leavePage = null;
  login();
});
addEventListener('hashchange', show);
show();
