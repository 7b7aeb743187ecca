// What belongs to an organisation's account: its OAuth clients, its users' sessions, what is reserved, and its ledger.
import {ask, download, may, query} from './api.js';
import {confirmChange, field, showOnce} from './dialog.js';
import {badge, copyable, exactly, h, number, table, when} from './dom.js';

const LEDGER_DAYS = 31;
const SESSIONS_SHOWN = 20;

const reasonOf = values => Object.keys(values).length > 0 ? values : undefined;

// What can be said of the keys with which a client signs.
function keysOf(client) {
  if (client.jwks_uri === null) {
    const live = client.keys.filter(k => k.revoked_at === null);
    return `${live.length} uploaded`;
  }
  if (client.jwks_last_error !== null) return badge(client.jwks_last_error, 'bad');
  return client.jwks_last_validated_at === null ? 'published, never fetched'
    : h('span', null, 'published, fetched ', when(client.jwks_last_validated_at));
}

function revokeTokens(path, client, again) {
  return may('admin') && h('button', {type: 'button', class: 'final', click: async () => {
    const done = await confirmChange({
      title: `End tokens: ${client.name}`, button: 'End tokens', danger: true,
      what: 'Every token of this client is refused from the next request on. It may get new ones with its keys.',
      act: values => ask('POST', `${path}/${client.id}/revoke-tokens`, values),
    });
    if (done) again();
  }}, 'End tokens');
}

function switchClient(path, client, again) {
  const disable = client.status === 'active';
  const title = disable ? 'Disable' : 'Enable';
  return may('admin') && h('button', {type: 'button', class: disable && 'final', click: async () => {
    const done = await confirmChange({
      title: `${title}: ${client.name}`, button: title, danger: disable,
      what: disable ? 'Its tokens are refused from the next request on, for ever, and it gets no others.'
        : 'It may get tokens again.',
      act: values => ask('PATCH', `${path}/${client.id}`, {status: disable ? 'disabled' : 'active', ...values}),
    });
    if (done) again();
  }}, title);
}

function deleteClient(path, client, again) {
  return may('admin') && h('button', {type: 'button', class: 'final', click: async () => {
    const done = await confirmChange({
      title: `Delete: ${client.name}`, button: 'Delete', danger: true,
      what: 'Its tokens are refused from the next request on, and its keys and its name are gone. That cannot be undone.',
      act: values => ask('DELETE', `${path}/${client.id}`, reasonOf(values)),
    });
    if (done) again();
  }}, 'Delete');
}

// A key that is uploaded: for clients that publish none.
function addKey(path, client, again) {
  return client.jwks_uri === null && may('admin') && h('button', {type: 'button', click: async () => {
    const pem = h('textarea', {id: 'dialog-public_key_pem', name: 'public_key_pem', rows: 6, required: true, spellcheck: 'false'});
    const done = await confirmChange({
      title: `Add a key: ${client.name}`, button: 'Add', what: 'A public key, with which the client signs what it asks tokens with.',
      fields: [{id: pem.id, label: 'Public key (PEM)', input: pem}, field('kid', 'Its id (empty: its thumbprint)')],
      act: ({kid, ...values}) => ask('POST', `${path}/${client.id}/keys`, {...values, ...kid !== '' && {kid}}),
    });
    if (done) again();
  }}, 'Add key');
}

function newClient(organisation, path, again) {
  return may('admin') && h('button', {type: 'button', click: async () => {
    const team = h('select', {id: 'dialog-team', name: 'team_id'}, h('option', {value: ''}, 'all of the organisation'),
      organisation.teams.map(t => h('option', {value: t.id}, t.name)));
    const done = await confirmChange({
      title: `New OAuth client: ${organisation.name}`, button: 'Make it',
      what: 'It gets tokens with keys that it publishes at an https address, or that are added afterwards.',
      fields: [field('name', 'Name', {required: true, maxlength: 200}), {id: 'dialog-team', label: 'Sees the monitors of', input: team},
               field('jwks_uri', 'Where it publishes its keys (empty: keys are added)', {inputmode: 'url'})],
      act: ({name, team_id: teamId, jwks_uri: uri, reason}) =>
        ask('POST', path, {name, ...teamId && {team_id: teamId}, ...uri && {jwks_uri: uri}, reason}),
    });
    if (done) again();
  }}, 'New OAuth client');
}

export async function clients(organisation, again) {
  const path = `/orgs/${organisation.id}/oauth-clients`;
  const {items} = await ask('GET', path);
  const list = table('OAuth clients', [
    ['Name', c => h('span', null, c.name, ' ', c.status === 'disabled' ? badge('disabled', 'bad') : '')],
    ['Id', c => copyable(c.id)],
    ['Team', c => organisation.teams.find(t => t.id === c.team_id)?.name ?? '–'],
    ['Keys', keysOf],
    ['Last used', c => when(c.last_used_at)],
    ['Made by', c => c.created_by.kind === 'operator' ? `operator ${c.created_by.label}` : c.created_by.label],
    ['Change', c => h('span', {class: 'buttons'}, addKey(path, c, again), switchClient(path, c, again),
      revokeTokens(path, c, again), deleteClient(path, c, again))],
  ], items, 'No OAuth client.');
  return [list, h('p', {class: 'buttons'}, newClient(organisation, path, again))];
}

function newSession(organisation, path, again) {
  return may('admin') && h('button', {type: 'button', click: async () => {
    let made = null;
    const team = h('select', {id: 'dialog-team', name: 'team_id'}, h('option', {value: ''}, 'all of the organisation'),
      organisation.teams.map(t => h('option', {value: t.id}, t.name)));
    await confirmChange({
      title: `New session: ${organisation.name}`, button: 'Open it', what: 'Its token is shown once.',
      fields: [field('user_id', 'User (your id of them)', {required: true}), field('name', 'Their name'),
               {id: 'dialog-team', label: 'Sees the monitors of', input: team},
               field('ttl_s', 'Seconds that it lives (empty: an hour)', {type: 'number', min: 1})],
      act: async ({user_id: user, name, team_id: teamId, ttl_s: ttl, reason}) => {
        made = await ask('POST', path, {user_id: user, ...name && {name}, ...teamId && {team_id: teamId},
                                        ...ttl && {ttl_s: Number(ttl)}, reason});
      },
    });
    if (!made) return;
    await showOnce({title: 'The session', what: 'Hand its token out now: it cannot be shown again.', secret: made.token});
    again();
  }}, 'New session');
}

// The users for whom calls may be made.
export async function users(organisation, again) {
  const path = `/orgs/${organisation.id}/users`;
  const {items, next_cursor: more} = await ask('GET', path);
  return table(more ? `Users: the first ${items.length}` : 'Users', [
    ['User', u => u.user_id], ['Name', u => u.name ?? '–'], ['Live sessions', u => number(u.sessions), 'n'],
    ['Change', u => may('admin') && h('button', {type: 'button', class: 'final', click: async () => {
      const done = await confirmChange({
        title: `Remove ${u.user_id}`, button: 'Remove', danger: true,
        what: 'All sessions of this user end, and no call is made for them any more until a session is opened again.',
        act: values => ask('DELETE', `${path}/${encodeURIComponent(u.user_id)}`, reasonOf(values)),
      });
      if (done) again();
    }}, 'Remove')],
  ], items, 'No user.');
}

// Sessions that somebody may still use, newest first.
export async function sessions(organisation, again) {
  const path = `/orgs/${organisation.id}/sessions`;
  const {items, next_cursor: more} = await ask('GET', path + query({limit: SESSIONS_SHOWN}));
  const list = table(more ? `Sessions: the newest ${SESSIONS_SHOWN}` : 'Sessions', [
    ['User', s => s.user_id],
    ['Team', s => organisation.teams.find(t => t.id === s.team_id)?.name ?? '–'],
    ['Opened', s => when(s.created_at)],
    ['Expires', s => when(s.expires_at)],
    ['Change', s => may('admin') && h('button', {type: 'button', class: 'final', click: async () => {
      const done = await confirmChange({
        title: `End the session of ${s.user_id}`, button: 'End', danger: true,
        what: 'Its token is refused from the next request on.',
        act: values => ask('DELETE', `${path}/${s.id}`, reasonOf(values)),
      });
      if (done) again();
    }}, 'End')],
  ], items, 'No session.');
  return [list, h('p', {class: 'buttons'}, newSession(organisation, path, again))];
}

// What clients a key has made: they outlast it.
export async function madeBy(organisationId, keyId) {
  const {items} = await ask('GET', `/orgs/${organisationId}/oauth-clients`);
  const names = items.filter(c => c.created_by.id === keyId).map(c => c.name);
  return names.length === 0 ? '' : ` It made the OAuth clients ${names.join(', ')}, which go on without it.`;
}

// What holds the credits that are reserved.
export async function reservations(organisation) {
  const held = await ask('GET', `/orgs/${organisation.id}/reservations`);
  const lines = [
    ...held.checks.map(c => ({holder: `checks, ${c.tier}`, reserved: c.reserved})),
    ...held.jobs.map(j => ({holder: h('a', {href: `#/jobs/${j.job_id}`}, j.kind), reserved: j.reserved})),
  ];
  const more = held.job_count > held.jobs.length ? `, the largest ${held.jobs.length} jobs of ${held.job_count}` : '';
  return table(`Reserved credits: ${number(held.reserved)}${more}`, [
    ['For', l => l.holder],
    ['Credits', l => number(l.reserved), 'n'],
  ], lines, 'Nothing is reserved.');
}

export async function ledger(organisation) {
  const since = new Date(Date.now() - (LEDGER_DAYS - 1) * 86400e3).toISOString().slice(0, 10);
  const path = `/orgs/${organisation.id}/ledger`;
  const page = await ask('GET', path + query({by: 'day', since: `${since}T00:00:00Z`}));
  const csv = h('button', {type: 'button', click: () =>
    download(path + query({format: 'csv', since: `${since}T00:00:00Z`}), `statement-${since}.csv`)},
  'Download as CSV');
  return h('section', null,
    table(`Ledger by day, from ${number(page.opening)} to ${number(page.closing)} credits`, [
      ['Day (UTC)', l => l.at.slice(0, 10)],
      ['For', l => l.item === null ? l.kind : `${l.kind}: ${l.item}`],
      ['Units', l => number(l.units), 'n'],
      ['Amount', l => number(l.amount), 'n'],
      ['Total', l => number(l.total), 'n'],
    ], page.lines, 'Nothing was booked or charged.'),
    h('p', {class: 'note'}, 'Of what was booked until ', exactly(page.until), '. The balance has what came since, too.'),
    h('p', {class: 'buttons'}, csv));
}
