// Webhooks that were given up: sent again one by one, or many by what they are of.

import {ask} from './api.js';
import {h, number, replace, when} from './dom.js';
import {again, button, field, form, guarded, list, say} from './parts.js';

// What was told, with a link to where it comes from.
function what(d) {
  if (d.monitor_id) return h('a', {href: `#/monitors/${d.monitor_id}`}, d.event_type);
  return d.channel_id ? h('a', {href: '#/channels'}, d.event_type) : 'the end of a job';
}

function replayForm() {
  const monitor = h('input', {autocomplete: 'off', pattern: ' *[0-9a-f\\-]{36} *'});
  const [since, until] = [h('input', {type: 'date'}), h('input', {type: 'date'})];
  const midnight = input => input.value === '' ? undefined : `${input.value}T00:00:00Z`;
  return h('details', {class: 'start'}, h('summary', null, 'Send many again'), form([
    field('Monitor', monitor, 'Its id; empty: those of all, and of jobs'),
    field('Since', since, 'A day, UTC'), field('Until', until, 'Up to the beginning of a day, UTC')], 'Send up to 10,000 again', async () => {
    const {replayed} = await ask('POST', '/account/deliveries/replay', {
      monitor_id: monitor.value.trim() || undefined, since: midnight(since), until: midnight(until)});
    say(`${number(replayed)} are sent again.`);
    again();
  }));
}

// Each try with what was answered, read when it is opened.
function attempts(delivery) {
  const box = h('div');
  const show = async () => {
    if (!details.open || box.childElementCount > 0) return;
    const {attempts: all} = await ask('GET', `/account/deliveries/${delivery.id}/attempts`);
    replace(box, all.length === 0 ? 'They are not kept any more.' : h('ol', {class: 'tries', start: all[0].attempt}, all.map(a =>
      h('li', null, when(a.attempted_at), `, ${Math.round(a.duration_ms)} ms: ${a.delivered ? 'delivered' : a.error ?? 'no answer'}`,
        a.answer && h('div', {class: 'note'}, 'Answered: ', h('code', null, a.answer))))));
  };
  const details = h('details', {toggle: () => guarded(show)}, h('summary', null, number(delivery.attempts)), box);
  return details;
}

export async function deliveries() {
  return h('div', null, h('h2', null, 'Deliveries'),
    h('p', null, 'What could not be delivered in its time. A monitor’s page says what is still tried.'),
    replayForm(),
    await list({path: '/account/deliveries', name: 'deliveries', caption: 'Given up', empty: 'None: everything was delivered.', columns: [
      ['Made', d => when(d.created_at)],
      ['What', what],
      ['Attempts', d => attempts(d)],
      ['Last error', d => d.last_error ?? '–'],
      ['Actions', d => button('Send again', async () => {
        await ask('POST', `/account/deliveries/${d.id}/resend`, {});
        say('It is sent again.');
        again();
      })],
    ]}));
}
