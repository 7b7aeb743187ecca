import {h, replace, when} from './dom.js';
import {showList} from './list.js';
import {named} from './names.js';

export async function audit(main) {
  const list = h('div');
  replace(main, h('h2', null, 'Audit'), list);
  await showList(list, {
    caption: 'Changes, newest first', path: '/audit', empty: 'Nothing was changed yet.',
    columns: [
      ['When', a => when(a.at), 'short'], ['Who', a => a.actor, 'short'], ['What', a => a.action, 'short'],
      ['On', a => [h('code', null, a.target), a.org_id && [h('br'), named('organisation', a.org_id)]]], ['Why', a => a.reason ?? ''],
      ['More', a => a.detail === null ? '' : JSON.stringify(a.detail)],
      ['From', a => a.remote_address, 'short'],
    ],
  });
}
