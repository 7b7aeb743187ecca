import {ask, query} from './api.js';
import {confirmChange} from './dialog.js';
import {facts, h, number, replace, statusBadge, table, when} from './dom.js';
import {filterForm, showList} from './list.js';

const STATES = [['', 'not delivered'], ['pending', 'pending'], ['dead', 'dead'], ['delivered', 'delivered']];

// What a delivery tells of: a check of a monitor's row, or the end of a job.
function about(d) {
  if (d.job_id) return [['Job', h('a', {href: `#/jobs/${d.job_id}`}, d.job_id)], ['Event', h('code', null, d.event_group_id)]];
  return [
    ['Monitor', h('a', {href: `#/monitors/${d.monitor_id}`}, d.monitor_id)],
    ['Row', h('a', {href: `#/monitors/${d.monitor_id}/rows/${d.row_id}`}, d.row_id)],
    ['Check', h('code', null, d.event_group_id)],
  ];
}

function aboutLink(d) {
  const [page, id] = d.job_id ? ['jobs', d.job_id] : ['monitors', d.monitor_id];
  return h('a', {href: `#/${page}/${id}`}, `${d.job_id ? 'job' : 'monitor'} ${id.slice(-12)}`);
}

function replayMany(filter, again) {
  const scope = filter.monitor_id ? 'of this monitor' : filter.org_id ? 'of this organisation'
    : 'of every organisation';
  return h('p', {class: 'buttons'}, h('button', {type: 'button', click: async () => {
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
    {name: 'org_id', label: 'Organisation id'},
    {name: 'monitor_id', label: 'Monitor id'},
    {name: 'job_id', label: 'Job id'},
  ], filter, f => { location.hash = `#/deliveries${query(f)}`; }),
    filter.state === 'dead' && replayMany(filter, again), list);
  await showList(list, {
    caption: 'Deliveries, newest first', path: '/deliveries', filter, empty: 'No delivery matches.',
    columns: [
      ['Delivery', d => h('a', {href: `#/deliveries/${d.id}`}, when(d.created_at))],
      ['State', d => statusBadge(d.state)],
      ['Type', d => d.type],
      ['About', aboutLink],
      ['Attempts', d => number(d.attempts), 'n'],
      ['Next attempt', d => when(d.next_attempt_at)],
      ['Last error', d => d.last_error ?? ''],
    ],
  });
}

export async function delivery(main, [id]) {
  const d = await ask('GET', `/deliveries/${id}`);
  replace(main,
    h('h2', null, 'Delivery ', statusBadge(d.state)),
    d.state === 'dead' && h('p', {class: 'buttons'}, h('button', {type: 'button', click: async () => {
      const done = await confirmChange({
        title: 'Replay this delivery', button: 'Replay',
        what: 'It becomes pending and is sent again, to the monitor\'s present receiver or to the one that the job was '
          + 'started with, and its retries begin again.',
        act: values => ask('POST', `/deliveries/${id}/replay`, values),
      });
      if (done) delivery(main, [id]);
    }}, 'Replay')),
    facts([
      ['Id', h('code', null, d.id)], ['Type', d.type], ['Made', when(d.created_at)],
      ...about(d),
      ['Attempts', number(d.attempts)], ['Next attempt', when(d.next_attempt_at)],
      ['Last error', d.last_error ?? '–'],
    ]),
    table('Attempts', [
      ['No.', a => number(a.attempt), 'n'], ['At', a => when(a.attempted_at)],
      ['Status', a => a.status_code ?? '–', 'n'],
      ['Took', a => `${Math.round(a.duration_ms)} ms`, 'n'],
      ['Error', a => a.error ?? ''],
      ['Answer', a => a.answer ? h('pre', null, a.answer) : ''],
    ], d.history, 'No attempt yet.'));
}
