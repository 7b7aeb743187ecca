// Webhooks that were given up: sent again one by one, or all.

import {ask} from './api.js';
import {h, number, when} from './dom.js';
import {button, list, say, sureButton} from './parts.js';

export async function deliveries() {
  return h('div', null, h('h2', null, 'Deliveries'),
    h('p', null, 'What could not be delivered in its time. A monitor’s page says what is still tried.'),
    h('p', null, sureButton('Replay all', 'Replay up to 10,000?', async () => {
      const answer = await ask('POST', '/account/deliveries/replay', {});
      say(`${number(answer.replayed)} are sent again.`);
    })),
    await list({path: '/account/deliveries', name: 'deliveries', caption: 'Given up', empty: 'None: everything was delivered.', columns: [
      ['Since', d => when(d.created_at)],
      ['Of', d => d.monitor_id ? h('a', {href: `#/monitors/${d.monitor_id}`}, d.event_type) : 'a job'],
      ['Attempts', d => number(d.attempts), 'n'],
      ['Last error', d => d.last_error ?? '–'],
      ['', d => button('Send again', async () => {
        await ask('POST', `/account/deliveries/${d.id}/resend`, {});
        say('It is sent again.');
      })],
    ]}));
}
