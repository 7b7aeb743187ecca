// What was changed in the organisation, by whom.

import {h, when} from './dom.js';
import {list} from './parts.js';

export async function audit() {
  return h('div', null, h('h2', null, 'Audit'),
    await list({path: '/account/audit', name: 'audit', caption: 'Changes', empty: 'None.', columns: [
      ['When', e => when(e.at)],
      ['Who', e => e.actor],
      ['What', e => e.action],
      ['To', e => h('code', null, e.target)],
      ['Detail', e => e.detail ? h('pre', null, JSON.stringify(e.detail)) : null],
      ['From', e => e.remote_address ?? '–'],
    ]}));
}
