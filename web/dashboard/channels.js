// Channels: places where people are told what monitors see.

import {ask, session} from './api.js';
import {badge, h, statusBadge} from './dom.js';
import {again, button, checks, field, form, list, say, sureButton} from './parts.js';

const KINDS = ['webhook', 'email', 'slack', 'teams', 'discord', 'apprise', 'feed'];
const EVENTS = {'monitor.field.changed': 'changes', 'monitor.execution.failed': 'failures', 'monitor.execution.completed': 'every check'};
const USUAL = ['monitor.field.changed', 'monitor.execution.failed'];

function targetOf(kind, text) {
  if (kind === 'feed') return undefined;
  if (kind === 'email') return {addresses: text.split(/[\s,]+/).filter(one => one !== '')};
  return {url: text.trim()};
}

function newChannel() {
  const name = h('input', {required: true, maxlength: 200});
  const kind = h('select', null, KINDS.map(one => h('option', {value: one}, one)));
  const target = h('input', {autocomplete: 'off'});
  const events = checks('What it is told', Object.entries(EVENTS), USUAL);
  const digest = h('input', {placeholder: 'none'});
  return h('details', {class: 'start'}, h('summary', null, 'New channel'), form([field('Name', name), field('Kind', kind),
    field('Where', target, 'The address of a webhook or a chat; of email up to 25 addresses with commas; of a feed nothing'),
    events.element, field('Digest', digest, 'Empty: at once; or hourly, weekly, or daily at 09:00 Europe/Berlin')], 'Create', async () => {
    await ask('POST', '/channels', {name: name.value, kind: kind.value, target: targetOf(kind.value, target.value),
                                    events: events.chosen(), digest: digest.value.trim() || undefined});
    say('Created.');
    again();
  }));
}

function where(channel) {
  const {url, tag, addresses} = channel.target;
  return addresses ? addresses.join(', ') : [h('code', null, url ?? '–'), tag && ` ${tag}`];
}

function actions(channel) {
  const turn = is_active => async () => {
    const now = await ask('POST', `/channels/${channel.id}/update`, {is_active});
    const still = is_active && now.status !== 'active';
    say(still ? `It is ${now.status}: ${now.status_reason ?? 'nobody has confirmed it yet'}` : is_active ? 'Resumed.' : 'Paused.');
    again();
  };
  return h('div', {class: 'buttons'},
    channel.kind !== 'feed' && button('Test', async () => {
      const test = await ask('POST', `/channels/${channel.id}/test`, {});
      say(test.delivered ? 'It has taken it.' : `It has not taken it: ${test.error ?? test.status_code}`);
    }),
    channel.kind !== 'feed' && (channel.status === 'suspended' ? button('Resume', turn(true))
      : sureButton('Pause', 'Pause it? What waits for it is given up.', turn(false))),
    sureButton('Delete', 'Delete it? Monitors tell it no more.', async () => {
      await ask('DELETE', `/channels/${channel.id}`);
      say('Deleted.');
      again();
    }));
}

export async function channels() {
  const may = session.may('member');
  return h('div', null, h('h2', null, 'Channels'),
    h('p', null, 'Where people are told what monitors see. The form of a monitor says which of them it tells.'),
    may && newChannel(),
    await list({path: '/channels', name: 'channels', caption: 'Channels', empty: 'None yet.', columns: [
      ['Name', c => c.name],
      ['Kind', c => c.kind],
      ['Where', where],
      ['Told', c => c.events.map(one => EVENTS[one] ?? one).join(', ')],
      ['When', c => c.digest === 'none' ? 'at once' : c.digest],
      ['Status', c => [c.status === 'active' ? badge('active', 'good') : statusBadge(c.status), c.status_reason && ` ${c.status_reason}`]],
      may && ['Actions', actions],
    ].filter(Boolean)}));
}
