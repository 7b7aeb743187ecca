// The channels of an organisation: what became of what they were told, and how to make, try and pause one.

import {ask, may} from './api.js';
import {confirmChange, field} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, statusBadge, when} from './dom.js';
import {showList} from './list.js';
import {named} from './names.js';

const KINDS = ['webhook', 'email', 'slack', 'teams', 'discord', 'apprise', 'feed'];
const STATUS = {active: 'good', unconfirmed: 'warn', suspended: 'bad'};
const status = c => badge(c.status, STATUS[c.status] ?? 'off');
const target = c => c.target.addresses?.join(', ') ?? c.target.url;

function targetOf(kind, text) {
  if (kind === 'feed') return {};
  if (kind === 'email') return {target: {addresses: text.split(/[\s,]+/).filter(Boolean)}};
  return {target: {url: text.trim()}};
}

function newChannel(orgId) {
  return may('operator') && h('button', {type: 'button', click: async () => {
    let made = null;
    const kind = h('select', {id: 'dialog-kind', name: 'kind'}, KINDS.map(name => h('option', {value: name}, name)));
    await confirmChange({
      title: 'New channel', button: 'Make it',
      what: 'It is told of changes and failures by the monitors that name it. The owner of each address of kind email is asked first.',
      fields: [field('name', 'Name', {required: true, maxlength: 200}), {id: kind.id, label: 'Kind', input: kind},
               field('target', 'Its address, or addresses with spaces between them (of a feed none)')],
      act: async ({name, kind: chosen, target: text, reason}) => {
        made = await ask('POST', `/orgs/${orgId}/channels`, {name, kind: chosen, ...targetOf(chosen, text), reason});
      },
    });
    if (made) location.hash = `#/organisations/${orgId}/channels/${made.id}`;
  }}, 'New channel');
}

export async function channels(main, [orgId]) {
  const list = h('div');
  replace(main, h('h2', null, 'Channels of ', named('organisation', orgId)), h('p', {class: 'buttons'}, newChannel(orgId)), list);
  await showList(list, {
    caption: 'Channels, newest first', path: `/orgs/${orgId}/channels`, empty: 'No channel.', rowsOf: answer => answer.channels,
    columns: [
      ['Name', c => h('a', {href: `#/organisations/${orgId}/channels/${c.id}`}, c.name)],
      ['Kind', c => c.kind], ['Status', status], ['Why', c => c.status_reason ?? ''], ['Address', target],
      ['Digest', c => c.digest], ['Made', c => when(c.created_at)],
    ],
  });
}

function change(path, c, again, {title, what, body, danger = false, method = 'POST', behind = '/update'}) {
  return may('operator') && h('button', {type: 'button', class: danger && 'final', click: async () => {
    const done = await confirmChange({title: `${title}: ${c.name}`, what, button: title, danger,
      act: ({reason}) => ask(method, path + behind, {...body, reason})});
    if (done) again();
  }}, title);
}

// What came back stands below the buttons.
function test(path, outcome) {
  return may('operator') && h('button', {type: 'button', click: async event => {
    event.target.disabled = true;
    try {
      const {delivered, status_code: code, error} = await ask('POST', `${path}/test`, {});
      replace(outcome, delivered ? badge('delivered', 'good') : badge('not delivered', 'bad'), ` ${code ?? ''} ${error ?? ''}`);
    } catch (e) {
      replace(outcome, e.message);
    } finally {
      event.target.disabled = false;
    }
  }}, 'Try it');
}

const recipientsOf = c => (c.recipients ?? []).map(r => h('div', null, `${r.address} `, badge(r.status, r.status === 'confirmed' ? 'good' : 'warn'),
  ` ${r.status_reason ?? ''}`));

export async function channel(main, [orgId, id]) {
  const path = `/orgs/${orgId}/channels/${id}`;
  const c = await ask('GET', path);
  const again = () => channel(main, [orgId, id]);
  const paused = c.status === 'suspended' && c.status_reason === 'paused';
  const outcome = h('p', {role: 'status'});
  const list = h('div');
  replace(main,
    h('h2', null, c.name, ' ', status(c)),
    h('p', {class: 'buttons'}, c.kind !== 'feed' && [test(path, outcome),
      paused ? change(path, c, again, {title: 'Resume', what: 'It is told again, of what happens from now on.', body: {is_active: true}})
        : change(path, c, again, {title: 'Pause', what: 'It is told nothing until it is resumed; what waits for it is given up.',
          body: {is_active: false}})],
      change(path, c, () => { location.hash = `#/organisations/${orgId}/channels`; },
        {title: 'Delete', method: 'DELETE', behind: '', danger: true, what: 'What waits for it is given up. That cannot be undone.'})),
    outcome,
    facts([
      ['Id', copyable(c.id)], ['Organisation', named('organisation', orgId)], ['Kind', c.kind], ['Address', target(c)],
      ['Why it is not told', c.status_reason ?? '–'],
      ['Told of', c.events.join(', ')], ['Digest', c.digest], ['Old and new values', c.include_values ? 'told' : 'left out'],
      ...c.kind === 'email' ? [['Recipients', recipientsOf(c)]] : [], ['Made', exactly(c.created_at)],
    ]),
    list);
  await showList(list, {
    caption: 'What it was told and is to be told, newest first', path: `${path}/deliveries`, rowsOf: answer => answer.deliveries,
    empty: 'Nothing so far.',
    columns: [
      ['Delivery', d => h('a', {href: `#/deliveries/${d.id}`}, when(d.created_at))],
      ['State', d => statusBadge(d.state)], ['Type', d => d.event_type],
      ...c.kind === 'email' ? [['Recipient', d => d.recipient ?? '–']] : [],
      ['Attempts', d => number(d.attempts), 'n'], ['Next attempt', d => when(d.next_attempt_at)],
      ['Why it failed', d => d.last_error ?? ''],
    ],
  });
}
