// Webhooks that were given up: sent again one by one, or many by what they are of.

import {ask} from './api.js';
import {h, number, when} from './dom.js';
import {again, button, field, form, list, say} from './parts.js';

function replayForm() {
  const monitor = h('input', {autocomplete: 'off', pattern: ' *[0-9a-f-]{36} *'});
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

export async function deliveries() {
  return h('div', null, h('h2', null, 'Deliveries'),
    h('p', null, 'What could not be delivered in its time. A monitor’s page says what is still tried.'),
    replayForm(),
    await list({path: '/account/deliveries', name: 'deliveries', caption: 'Given up', empty: 'None: everything was delivered.', columns: [
      ['Made', d => when(d.created_at)],
      ['What', d => d.monitor_id ? h('a', {href: `#/monitors/${d.monitor_id}`}, d.event_type) : 'the end of a job'],
      ['Attempts', d => number(d.attempts), 'n'],
      ['Last error', d => d.last_error ?? '–'],
      ['Actions', d => button('Send again', async () => {
        await ask('POST', `/account/deliveries/${d.id}/resend`, {});
        say('It is sent again.');
        again();
      })],
    ]}));
}
