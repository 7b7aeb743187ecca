// The audit log: who did what, when, to what and why.

import {query} from './api.js';
import {copyable, h, replace, when} from './dom.js';
import {filterForm, showList} from './list.js';
import {ID, named, partOf} from './names.js';

const ACTIONS = [
  'account.channels', 'api_key.create', 'api_key.revoke', 'channel.create', 'channel.delete', 'channel.update',
  'console.end_session', 'console.sign_in', 'console.sign_out', 'delivery.replay', 'delivery.replay_many', 'delivery.send', 'email.unblock', 'erase', 'invitation.create',
  'invitation.withdraw', 'job.cancel', 'job.rows', 'job.terminate', 'member.drain', 'member.remove', 'member.update',
  'monitor.archive', 'monitor.cancel', 'monitor.create', 'monitor.delete', 'monitor.pause', 'monitor.resume',
  'monitor.trigger', 'monitor.update', 'oauth_client.create', 'oauth_client.delete', 'oauth_client.key.add',
  'oauth_client.key.revoke', 'oauth_client.revoke_tokens', 'oauth_client.update', 'oauth_client.validate_keys',
  'org.change', 'org.create', 'org.credits', 'org.external_id', 'passkey.add', 'passkey.remove', 'password.change', 'password.reset_link', 'row.add', 'row.remove', 'row.switch', 'row.update',
  'run.cancel', 'run.rows', 'schedule.create', 'schedule.delete', 'schedule.pause', 'schedule.resume', 'schedule.rows', 'schedule.update',
  'search.import', 'search_exclusion.create', 'search_exclusion.delete', 'search_exclusion.fill',
  'search_exclusion.ready', 'session.create', 'session.end', 'session.end_all', 'signing_secret.create',
  'signing_secret.revoke', 'signing_secret.roll', 'signing_secret.rotate', 'signing_secrets.reseal',
  'suppression.add', 'suppression.remove', 'team.change', 'team.create', 'team.delete', 'template.create',
  'template.delete', 'upload.create', 'user.remove', 'workflow.create', 'workflow.delete', 'workflow.update'];

const PAGES = {job: '#/jobs', run: '#/runs', delivery: '#/deliveries'};

// What an action was done to: a link where the console has a page of it, the name where it has one.
function target(a) {
  const [kind] = a.action.split('.');
  if (!ID.test(a.target)) return h('code', null, a.target);
  if (kind === 'monitor') return named('monitor', a.target);
  if (kind === 'org') return named('organisation', a.target);
  if (PAGES[kind]) return h('a', {href: `${PAGES[kind]}/${a.target}`}, a.target);
  if (['api_key', 'oauth_client', 'team'].includes(kind) && a.org_id) {
    return [a.detail?.name ? `${a.detail.name} ` : partOf(a.org_id, a.target), ' ', copyable(a.target)];
  }
  return copyable(a.target);
}

// A caller of the API has a kind and an id of its own, and may have called for somebody.
function actor(a) {
  return [
    h('a', {href: `#/audit${query(a.principal_id ? {principal_id: a.principal_id} : {actor: a.actor})}`}, a.actor),
    a.principal_kind && h('div', {class: 'note'}, `${a.principal_kind} of the API`),
    a.on_behalf_of && h('div', {class: 'note'}, `for ${a.on_behalf_of}`)];
}

const detail = a => a.detail === null ? ''
  : Object.entries(a.detail).map(([name, text]) => h('div', null, `${name}: ${typeof text === 'string' ? text : JSON.stringify(text)}`));

export async function audit(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Audit'), filterForm([
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    {name: 'action', label: 'What', suggestions: ACTIONS},
    {name: 'actor', label: 'Who (name of a token)'},
    {name: 'principal_id', label: 'Caller of the API (id)'},
    {name: 'target', label: 'On (id)'},
  ], filter, f => { location.hash = `#/audit${query(f)}`; }), list);
  await showList(list, {
    caption: 'Changes, newest first', path: '/audit', filter, empty: 'No change matches.',
    columns: [
      ['When', a => when(a.at), 'short'], ['Who', actor], ['What', a => a.action, 'short'],
      ['On', target], ['Whose', a => named('organisation', a.org_id)], ['Why', a => a.reason ?? ''],
      ['More', detail],
      ['From', a => a.remote_address, 'short'],
    ],
  });
}
