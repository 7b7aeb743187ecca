// The encryption keys that signing secrets and request headers are sealed with, and sealing them again with the present one.

import {ask, may} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, copyable, h, number, replace, table} from './dom.js';

const PRESENT = 'encryption_key';
const UNKNOWN = 'not configured here';

const uses = key => key.live_secrets + key.monitors;

// In portions, until nothing is left that can be opened.
async function resealAll(values) {
  const sum = {resealed: 0, unreadable: 0};
  for (;;) {
    const portion = await ask('POST', '/signing-secrets/reseal', values);
    sum.resealed += portion.resealed;
    sum.unreadable = portion.unreadable;
    if (portion.done || portion.resealed === 0) return sum;
  }
}

function resealButton(main) {
  return may('admin') && h('button', {type: 'button', click: async () => {
    const done = await confirmChange({
      title: 'Seal again', button: 'Seal again',
      what: 'What was sealed with a former encryption key is opened and sealed with the present one. Secrets stay what they '
        + 'are: customers notice nothing. Afterwards former keys can be taken out of the configuration.',
      act: resealAll,
    });
    if (done) show(main, done);
  }}, 'Seal again with the present key');
}

function place(key) {
  if (key.place === PRESENT) return badge('present', 'good');
  if (key.place === UNKNOWN && uses(key) > 0) return badge(`${UNKNOWN}: cannot be opened`, 'bad');
  return badge(key.place === UNKNOWN ? UNKNOWN : 'former', uses(key) > 0 ? 'warn' : 'off');
}

// `done`: what a sealing that has just ended did, if one has.
async function show(main, done) {
  const [{items}, {members}] = await Promise.all([ask('GET', '/signing-secrets/keys'), ask('GET', '/overview')]);
  const lacking = members.filter(m => m.counters.secrets_unreadable > 0);
  replace(main, h('h2', null, 'Encryption keys'),
    h('p', {class: 'buttons'}, resealButton(main)),
    done && h('p', {role: 'status'}, `${number(done.resealed)} sealed again`
      + (done.unreadable > 0 ? `; ${number(done.unreadable)} cannot be opened with any key that this process has.` : '.')),
    lacking.length > 0 && table('Processes that lack a key', [
      ['Process', m => `${m.host} ${m.pid}${m.answering ? ' (this one)' : ''}`], ['Roles', m => m.roles.join(', ')],
      ['Live signing secrets that it cannot open', m => number(m.counters.secrets_unreadable), 'n'],
    ], lacking),
    table('Keys that something is sealed with', [
      ['Key', k => copyable(k.id)], ['Is', place],
      ['Live signing secrets', k => number(k.live_secrets), 'n'],
      ['Organisations', k => number(k.organisations), 'n'],
      ['Monitors with request headers', k => number(k.monitors), 'n'],
    ], items, 'Nothing is sealed yet.'),
    h('p', {class: 'note'}, 'Which keys are there is said of the process that answers; the others may have more, or fewer.'),
    h('p', {class: 'note'}, 'Signing secrets themselves are on the page of their organisation, masked.'));
}

export const keys = main => show(main, null);
