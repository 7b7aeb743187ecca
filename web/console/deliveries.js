import {ask, may, query} from './api.js';
import {confirmChange} from './dialog.js';
import {copyable, copyButton, exactly, facts, h, number, replace, statusBadge, table, when} from './dom.js';
import {filterForm, showList} from './list.js';
import {named} from './names.js';

const STATES = [['', 'not delivered'], ['pending', 'pending'], ['dead', 'dead'], ['delivered', 'delivered']];

// What a delivery tells of: a check of a monitor's row, or the end of a job.
function about(d) {
  if (d.job_id) {
    const run = d.type.startsWith('outgoing_webhook') ? [['Run', h('a', {href: `#/runs/${d.job_id}`}, 'as the graph of its blocks')]] : [];
    return [['Job', h('a', {href: `#/jobs/${d.job_id}`}, d.job_id)], ...run, ['Event', copyable(d.event_group_id)]];
  }
  if (d.channel_id) {
    const link = h('a', {href: `#/organisations/${d.org_id}/channels/${d.channel_id}`}, d.channel_id);
    const check = d.monitor_id === null ? [] : [['Monitor', named('monitor', d.monitor_id)]];
    return [['Channel', link], ...check, ['Event', copyable(d.event_group_id)]];
  }
  return [
    ['Monitor', named('monitor', d.monitor_id)],
    ['Row', h('a', {href: `#/monitors/${d.monitor_id}/rows/${d.row_id}`}, d.row_id)],
    ['Check', copyable(d.event_group_id)],
  ];
}

// Why a pending one has not gone, or is not there yet.
const WAITS = {
  turn: 'its turn', retry: 'its next attempt, as the last one failed',
  receiver: 'its receiver, which failed several times in a row and is tried once an interval',
  signing_secret: 'the signing secret, which cannot be read: nothing goes unsigned',
};
export const waits = d => d.waiting_for ? WAITS[d.waiting_for] ?? d.waiting_for : '';

function aboutLink(d) {
  if (d.job_id) return ['job ', h('a', {href: `#/jobs/${d.job_id}`}, d.job_id.slice(-12))];
  if (d.channel_id) return ['channel ', h('a', {href: `#/organisations/${d.org_id}/channels/${d.channel_id}`}, d.channel_id.slice(-12))];
  return ['monitor ', named('monitor', d.monitor_id)];
}

const SENDING = {
  pending: ['Try now', 'It is tried at once, whatever its schedule says and though its receiver may have failed. If that fails, '
    + 'its schedule goes on.'],
  delivered: ['Send again', 'It is sent again with the same event, so that a receiver that takes each pair of type and event id '
    + 'once leaves it alone, to where its monitor or its job sends now.'],
  dead: ['Replay', 'It becomes pending and is sent again, to the monitor\'s present receiver or to the one that the job was '
    + 'started with, and its retries begin again.'],
};

function sendButton(d, again) {
  const [title, what] = SENDING[d.state];
  return may('operator') && h('p', {class: 'buttons'}, h('button', {type: 'button', click: async () => {
    const done = await confirmChange({title, what, button: title,
      act: values => ask('POST', `/deliveries/${d.id}/send`, values)});
    if (done) again();
  }}, title));
}

// What the receiver is sent, word by word.
function requestOf(d) {
  if (!d.request) return h('p', {class: 'empty'}, d.job_id ? 'The body of a callback is made of the ended job at each attempt.'
    : d.channel_id ? 'What a channel is told is made at each attempt.'
    : 'Its monitor has no webhook_url any more.');
  const {method, url, headers, body} = d.request;
  const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}`);
  return [
    h('pre', {class: 'request', tabindex: '0', 'aria-label': 'The request'}, [`${method} ${url}`, ...lines, '', body].join('\n')),
    h('p', {class: 'note'}, 'The address ', copyButton(url, 'Copy the address'), ' the body ', copyButton(body, 'Copy the body'))];
}

function replayMany(filter, again) {
  const scope = filter.monitor_id ? 'of this monitor' : filter.org_id ? 'of this organisation'
    : 'of every organisation';
  return may('operator') && h('p', {class: 'buttons'}, h('button', {type: 'button', click: async () => {
    const body = Object.fromEntries(
      ['org_id', 'monitor_id'].filter(key => filter[key]).map(key => [key, filter[key]]));
    const done = await confirmChange({
      title: 'Replay dead deliveries', button: 'Replay all',
      what: `Every dead delivery ${scope} becomes pending and is sent again, and its retries begin again.`,
      act: values => ask('POST', '/deliveries/replay', {...body, ...values}),
    });
    if (done) again();
  }}, `Replay all dead ${scope}`));
}

export async function deliveries(main, _, filter) {
  const list = h('div');
  const again = () => deliveries(main, _, filter);
  replace(main, h('h2', null, 'Deliveries'), filterForm([
    {name: 'state', label: 'State', options: STATES},
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    {name: 'monitor_id', label: 'Monitor (name or id)', kind: 'monitor'},
    {name: 'job_id', label: 'Job id'},
  ], filter, f => { location.hash = `#/deliveries${query(f)}`; }),
    filter.state === 'dead' && !filter.job_id && replayMany(filter, again), list);
  await showList(list, {
    caption: 'Deliveries, newest first', path: '/deliveries', filter, empty: 'No delivery matches.',
    columns: [
      ['Delivery', d => h('a', {href: `#/deliveries/${d.id}`}, when(d.created_at))],
      ['State', d => statusBadge(d.state)],
      ['Type', d => d.type],
      ['About', aboutLink],
      ['Organisation', d => named('organisation', d.org_id)],
      ['Attempts', d => number(d.attempts), 'n'],
      ['Next attempt', d => when(d.next_attempt_at)],
      ['Waits for', waits],
      ['Last error', d => d.last_error ?? ''],
    ],
  });
}

export async function delivery(main, [id]) {
  const d = await ask('GET', `/deliveries/${id}`);
  replace(main,
    h('h2', null, 'Delivery ', statusBadge(d.state)),
    sendButton(d, () => delivery(main, [id])),
    facts([
      ['Id', copyable(d.id)], ['Type', d.type], ['Made', exactly(d.created_at)],
      ['Organisation', named('organisation', d.org_id)],
      ...about(d),
      ['Attempts', number(d.attempts)], ['Next attempt', exactly(d.next_attempt_at)],
      ['Waits for', waits(d) || '–'],
      ['Last error', d.last_error ?? '–'],
    ]),
    h('h3', null, d.state === 'delivered' ? 'As it was sent' : 'As it is sent next'), requestOf(d),
    h('h3', null, 'Attempts'),
    table('Attempts', [
      ['No.', a => number(a.attempt), 'n'], ['At', a => exactly(a.attempted_at)],
      ['Status', a => a.status_code ?? '–', 'n'],
      ['Took', a => `${Math.round(a.duration_ms)} ms`, 'n'],
      ['Error', a => a.error ?? ''],
      ['Answer', a => a.answer ? h('pre', null, a.answer) : ''],
    ], d.history, 'No attempt yet.'));
}
