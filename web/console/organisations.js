import {clients, ledger, madeBy, reservations, sessions, users} from './account.js';
import {ask, may, query} from './api.js';
import {choices, confirmChange, field, showOnce} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, table, when} from './dom.js';
import {filterForm, showList} from './list.js';

const FEATURES = ['monitors', 'testing_monitors', 'high_tier', 'xhigh'];
const lockBadge = o => o.lives_at !== null && o.lives_at !== undefined
  ? badge(`lives at ${o.lives_at === '' ? 'the first cell' : `cell ${o.lives_at}`}`, 'off') : o.locked ? badge('locked', 'bad') : '';

// What keeps an organisation from doing anything, as badges.
const health = o => [lockBadge(o), o.features.length === 0 && [' ', badge('no features', 'warn')],
  o.balance <= 0 && [' ', badge('no credits', 'warn')]];

// Whatever changes an organisation is an admin's.
const button = (text, click) => may('admin') && h('button', {type: 'button', click}, text);

export async function organisations(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Organisations'), h('p', {class: 'buttons'}, button('New organisation', newOrganisation)),
    filterForm([{name: 'q', label: 'Name or id'}], filter,
      f => { location.hash = `#/organisations${query(f)}`; }), list);
  await showList(list, {
    caption: 'Organisations, newest first', path: '/orgs', filter, empty: 'No organisation matches.',
    columns: [
      ['Name', o => h('a', {href: `#/organisations/${o.id}`}, o.name)],
      ['Health', health],
      ['Balance', o => number(o.balance), 'n'],
      ['Reserved', o => number(o.reserved), 'n'],
      ['Charged', o => number(o.charged), 'n'],
      ['Features', o => o.features.join(', ')],
      ['Made', o => when(o.created_at)],
    ],
  });
}

async function newOrganisation() {
  let made = null;
  await confirmChange({
    title: 'New organisation', button: 'Make it',
    what: 'It begins without credits, API keys and signing secrets, which its page gives it.',
    fields: [field('name', 'Name', {required: true, maxlength: 200}), choices('features', 'Features', FEATURES, ['monitors'])],
    act: async ({name, reason}, data) => {
      made = await ask('POST', '/orgs', {name, features: data.getAll('features'), reason});
    },
  });
  if (made) location.hash = `#/organisations/${made.id}`;
}

function featuresButton(o, again) {
  return button('Features', async () => {
    const done = await confirmChange({
      title: `Features: ${o.name}`, button: 'Set',
      what: 'Without monitors its monitors show as paused and its API answers 403; high_tier allows the tier high, and '
        + 'micro of enrichment; xhigh allows enrichment of that tier; testing_monitors allows the tier micro and the frequency 5m '
        + 'of monitors.',
      fields: [choices('features', 'It has', FEATURES, o.features)],
      act: ({reason}, data) => ask('PATCH', `/orgs/${o.id}`, {features: data.getAll('features'), reason}),
    });
    if (done) again();
  });
}

function externalIdButton(o, again) {
  return button('Name at the identity provider', async () => {
    const done = await confirmChange({
      title: `Name at the identity provider: ${o.name}`, button: 'Set',
      what: 'How your identity provider names this organisation. Empty: it has no name for it.',
      fields: [field('external_id', 'Name', {maxlength: 255, value: o.external_id ?? ''})],
      act: ({external_id: text, reason}) => ask('PATCH', `/orgs/${o.id}`, {external_id: text === '' ? null : text, reason}),
    });
    if (done) again();
  });
}

const limitOf = text => text === '' ? null : Number(text);

function teamButton(o, team, again) {
  const [title, text] = team ? [`Team: ${team.name}`, 'Change'] : [`New team: ${o.name}`, 'New team'];
  return button(text, async () => {
    const done = await confirmChange({
      title, button: team ? 'Change' : 'Make it',
      what: 'A team has a limit of credits for each calendar month, UTC, or none; keys of a team see its monitors alone.',
      fields: [field('name', 'Name', {required: true, maxlength: 200, value: team?.name ?? ''}),
               field('spend_limit', 'Spend limit (empty: none)', {type: 'number', step: '0.001', min: 0, value: team?.spend_limit ?? ''})],
      act: ({name, spend_limit: limit, reason}) => ask(team ? 'PATCH' : 'POST', `/orgs/${o.id}/teams${team ? `/${team.id}` : ''}`,
        {name, spend_limit: limitOf(limit), reason}),
    });
    if (done) again();
  });
}

function keyButton(o, again) {
  return button('New API key', async () => {
    let made = null;
    const team = h('select', {id: 'dialog-team', name: 'team_id'}, h('option', {value: ''}, 'all of the organisation'),
      o.teams.map(t => h('option', {value: t.id}, t.name)));
    await confirmChange({
      title: `New API key: ${o.name}`, button: 'Make it', what: 'It is shown once.',
      fields: [field('name', 'Name', {required: true, maxlength: 200}), {id: 'dialog-team', label: 'Sees the monitors of', input: team}],
      act: async ({name, team_id: teamId, reason}) => {
        made = await ask('POST', `/orgs/${o.id}/api-keys`, {name, ...teamId && {team_id: teamId}, reason});
      },
    });
    if (!made) return;
    await showOnce({title: 'The API key', what: 'Hand it out now: it cannot be shown again.', secret: made.key});
    again();
  });
}

function secretButton(o, again) {
  return button('New signing secret', async () => {
    let made = null;
    await confirmChange({
      title: `New signing secret: ${o.name}`, button: 'Make it',
      what: 'Notifications are signed with it at once. The former ones sign beside it for as long as you say, then they retire.',
      fields: [field('overlap_hours', 'Hours that the former ones still sign', {type: 'number', min: 0, step: 'any', required: true, value: 24})],
      act: async ({overlap_hours: hours, reason}) => {
        made = await ask('POST', `/orgs/${o.id}/signing-secrets/rotate`, {overlap_hours: Number(hours), reason});
      },
    });
    if (!made) return;
    await showOnce({title: 'The signing secret', what: 'Hand it out now: it cannot be shown again.', secret: made.secret});
    again();
  });
}

function secretState(s) {
  if (!s.live) return badge('retired', 'off');
  if (s.preview === null) return badge('cannot be opened', 'bad');
  return s.retires_at === null ? badge('current', 'good') : ['until ', when(s.retires_at)];
}

function lockButton(o, again) {
  const [title, what] = o.locked
    ? ['Unlock', 'Its API keys work again and its monitors go on with their schedules.']
    : ['Lock', 'Its API keys are refused and its checks stop within 5 seconds; its monitors show as paused.'];
  return may('admin') && h('button', {type: 'button', click: async () => {
    const done = await confirmChange({
      title: `${title}: ${o.name}`, what, button: title, reasonRequired: !o.locked,
      act: values => ask('PATCH', `/orgs/${o.id}`, {locked: !o.locked, ...values}),
    });
    if (done) again();
  }}, title);
}

function creditsButton(o, again) {
  return may('admin') && h('button', {type: 'button', click: async () => {
    const input = h('input', {id: 'dialog-amount', name: 'amount', type: 'number', step: '0.001',
                              required: true});
    const done = await confirmChange({
      title: `Credits: ${o.name}`, button: 'Book', reasonRequired: true,
      what: `The balance is ${number(o.balance)}. A negative amount takes credits.`,
      fields: [{id: 'dialog-amount', label: 'Amount', input}],
      act: ({amount, reason}) => ask('POST', `/orgs/${o.id}/credits`, {amount: Number(amount), reason}),
    });
    if (done) again();
  }}, 'Book credits');
}

export async function organisation(main, [id]) {
  const [o, keys, secrets] = await Promise.all([ask('GET', `/orgs/${id}`), ask('GET', `/orgs/${id}/api-keys`),
    ask('GET', `/orgs/${id}/signing-secrets`)]);
  const again = () => organisation(main, [id]);
  const account = await Promise.all([clients(o, again), sessions(o, again), users(o, again), reservations(o), ledger(o)]);
  replace(main,
    h('h2', null, o.name, ' ', health(o)),
    h('p', {class: 'buttons'}, creditsButton(o, again), featuresButton(o, again), keyButton(o, again),
      secretButton(o, again), teamButton(o, null, again), externalIdButton(o, again), lockButton(o, again)),
    facts([
      ['Id', copyable(o.id)], ['Name at the identity provider', o.external_id ?? '–'],
      ['Features', o.features.join(', ') || '–'],
      ['Balance', number(o.balance)], ['Reserved', number(o.reserved)], ['Charged', number(o.charged)],
      ['Rows of its runs', `${number(o.run_data_bytes)} bytes`],
      ['Made', exactly(o.created_at)],
      ['Monitors', [h('a', {href: `#/monitors?org_id=${o.id}`}, 'of this organisation'), ', ',
        h('a', {href: `#/monitors?org_id=${o.id}&failing=true`}, 'those that fail'),
        may('operator') && [', ', h('a', {href: `#/organisations/${o.id}/new-monitor`}, 'make a new monitor')]]],
      ['Changes that monitors saw', h('a', {href: `#/changes?org_id=${o.id}`}, 'of this organisation')],
      ['Jobs', [h('a', {href: `#/jobs?org_id=${o.id}`}, 'jobs'), ', ', h('a', {href: `#/runs?org_id=${o.id}`}, 'runs')]],
      ['Channels', h('a', {href: `#/organisations/${o.id}/channels`}, 'where it is told')],
      ['Deliveries', [h('a', {href: `#/deliveries?org_id=${o.id}`}, 'not delivered'), ', ',
        h('a', {href: `#/deliveries?state=dead&org_id=${o.id}`}, 'dead')]],
      ['Who changed what', h('a', {href: `#/audit?org_id=${o.id}`}, 'in the audit')],
    ]),
    table('Teams', [
      ['Name', t => t.name], ['Id', t => copyable(t.id)],
      ['Spent this month', t => number(t.spent), 'n'],
      ['Spend limit', t => t.spend_limit === null ? 'none' : number(t.spend_limit), 'n'],
      ['Change', t => teamButton(o, t, again)],
    ], o.teams, 'No team.'),
    table('API keys', [
      ['Name', k => k.name], ['Begins with', k => h('code', null, k.prefix)],
      ['History', k => h('a', {href: `#/audit?target=${k.id}`}, 'audit')],
      ['Team', k => o.teams.find(t => t.id === k.team_id)?.name ?? '–'],
      ['Made', k => when(k.created_at)],
      ['Change', k => may('admin') && h('button', {type: 'button', class: 'final', click: async () => {
        const done = await confirmChange({
          title: `Revoke: ${k.name}`, button: 'Revoke', danger: true,
          what: `Requests with this key are refused within 5 seconds. That cannot be undone.${await madeBy(id, k.id)}`,
          act: values => ask('DELETE', `/orgs/${id}/api-keys/${k.id}`,
            Object.keys(values).length > 0 ? values : undefined),
        });
        if (done) again();
      }}, 'Revoke')],
    ], keys.items, 'No API key.'),
    table('Signing secrets', [
      ['Ends with', s => h('code', null, s.preview ?? '–')], ['State', secretState],
      ['Sealed with', s => h('code', null, s.encryption_key_id)], ['Made', s => when(s.created_at)],
    ], secrets.items, 'No signing secret: notifications are not signed.'),
    account);
}
