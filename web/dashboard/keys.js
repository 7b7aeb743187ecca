// API keys with their scopes, and the secret that webhooks are signed with.

import {ask} from './api.js';
import {h, table, when} from './dom.js';
import {checks, field, form, list, once, say, sureButton, withSecrets} from './parts.js';

const SCOPES = ['read', 'monitors', 'lookups', 'workflows', 'search', 'account'];

export const keys = () => withSecrets('Keys', async (made, read) => {
  const name = h('input', {required: true, maxlength: 200});
  const boxes = checks('What it may be used for; none: everything', SCOPES.map(scope => [scope, scope]), []);
  const until = h('input', {type: 'date'});
  return [
    form([field('Name', name),
      boxes.element,
      field('Until', until, 'The end of that day, UTC; empty: for ever')], 'Make a key', async () => {
      const scopes = boxes.chosen();
      const order = {name: name.value};
      if (scopes.length > 0) order.scopes = scopes;
      if (until.value) order.expires_at = `${until.value}T23:59:59Z`;
      const key = await ask('POST', '/account/api-keys', order);
      await made(once(`The key ${key.name}`, key.key));
    }),
    await list({path: '/account/api-keys', name: 'api_keys', caption: 'Keys', empty: 'None.', columns: [
      ['Name', key => key.name],
      ['Begins with', key => h('code', null, key.prefix)],
      ['Scopes', key => key.scopes.length === SCOPES.length ? 'all' : key.scopes.join(', ')],
      ['Last used', key => when(key.last_used_at)],
      ['Until', key => when(key.expires_at)],
      ['Actions', key => sureButton('Revoke', 'Revoke it at once?', async () => {
        await ask('POST', `/account/api-keys/${key.id}/revoke`, {});
        say('Revoked.');
        await read();
      })],
    ]})];
});

export const signing = () => withSecrets('Signing secret', async (made, read) => {
  const {signing_secrets: secrets} = await ask('GET', '/account/signing-secrets');
  const overlap = h('input', {type: 'number', min: 0, max: 72, value: 24, required: true});
  const sure = h('input', {type: 'checkbox'});
  const atOnce = h('label', {hidden: true}, sure, ' The present secret ends at once, and receivers that have only it refuse what comes');
  overlap.addEventListener('input', () => {
    sure.required = overlap.value !== '' && Number(overlap.value) === 0;
    atOnce.hidden = !sure.required;
  });
  const make = async (path, body) => {
    const secret = await ask('POST', path, body);
    await made(once('The signing secret', secret.secret, h('p', null, 'Give it to your receivers (docs/webhooks.md).')));
  };
  return [
    secrets.length === 0
      ? form([h('p', null, 'Webhooks are not signed yet.')], 'Make a secret', () => make('/account/signing-secrets', {}))
      : form([field('Hours in which the present one signs, too', overlap), atOnce], 'Roll',
        () => make('/account/signing-secrets/roll', {overlap_hours: Number(overlap.value)})),
    table('In force', [
      ['Secret', s => h('code', null, s.preview ?? '–')],
      ['Since', s => when(s.created_at)],
      ['Until', s => s.retires_at ? when(s.retires_at) : 'it is rolled'],
      ['Actions', s => s.retires_at && sureButton('Revoke', 'Revoke it at once?', async () => {
        await ask('POST', `/account/signing-secrets/${s.id}/revoke`, {});
        say('Revoked.');
        await read();
      })],
    ], secrets, 'None.')];
});
