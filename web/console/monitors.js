import {ask, may, query} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, statusBadge, svg, table, when} from './dom.js';
import {filterForm, showList} from './list.js';
import {ID, named} from './names.js';
import {eventRow, present} from './rows.js';

const STATUSES = ['active', 'paused', 'cancelled', 'starting', 'failed'];
export const OUTCOMES = ['changed', 'unchanged', 'failed', 'skipped_balance', 'skipped_spend_limit',
                  'skipped_paused', 'skipped_overlap', 'inactive'];

const ACTIONS = {
  pause: {
    from: ['active'], title: 'Pause', reasonRequired: true,
    what: 'None of its checks starts 5 seconds after this, anywhere. Checks that run now finish and are '
      + 'recorded; the owner sees the reason. Slots that pass while it is paused are not made up for.',
  },
  resume: {
    from: ['paused', 'cancelled'], title: 'Resume',
    what: 'It is checked again from its next slot on. Nothing is checked at once; trigger it for that.',
  },
  trigger: {
    from: ['active'], title: 'Check now',
    what: 'All of its rows are checked now, outside the schedule, and the owner is charged as for any check. '
      + 'If a tick is open already, nothing new starts.',
  },
  cancel: {
    from: ['active', 'paused'], title: 'Cancel',
    what: 'Its checks stop, as with a pause, and the owner sees it as cancelled. It can be resumed later.',
  },
};

function actions(monitor, again) {
  return may('operator') && h('p', {class: 'buttons'}, Object.entries(ACTIONS)
    .filter(([, action]) => action.from.includes(monitor.status))
    .map(([name, action]) => h('button', {type: 'button', click: async () => {
      const done = await confirmChange({
        title: `${action.title}: ${monitor.name}`, what: action.what, button: action.title,
        reasonRequired: action.reasonRequired,
        act: values => ask('POST', `/monitors/${monitor.id}/${name}`, values),
      });
      if (done) again();
    }}, action.title)));
}

// For what the checks of one would be skipped now.
const WAITS = {balance: 'no credits', spend_limit: 'spend limit reached'};

// What ails a monitor, as badges.
function health(m) {
  return [m.failing_since && [' ', badge('failing', 'bad')],
    m.webhook_waiting_until && [' ', badge('receiver fails', 'bad')],
    m.waiting_for && [' ', badge(WAITS[m.waiting_for] ?? m.waiting_for, 'bad')],
    m.archived_at && [' ', badge('archived', 'off')]];
}

export async function monitors(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Monitors'), filterForm([
    {name: 'q', label: 'Name or id'},
    {name: 'status', label: 'Status', options: [['', 'any'], ...STATUSES.map(s => [s, s])]},
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    {name: 'run_id', label: 'Made by the run (id)'},
    {name: 'failing', label: 'Health', options: [['', 'any'], ['true', 'failing']]},
    {name: 'archived', label: 'Archived', options: [['', 'without'], ['true', 'with']]},
  ], filter, f => { location.hash = `#/monitors${query(f)}`; }), list);
  await showList(list, {
    caption: 'Monitors, newest first', path: '/monitors', filter, empty: 'No monitor matches.',
    columns: [
      ['Name', m => h('a', {href: `#/monitors/${m.id}`}, m.name)],
      ['Status', m => [statusBadge(m.status), ...health(m)]],
      ['Organisation', m => named('organisation', m.org_id)],
      ['Tier', m => m.tier],
      ['Every', m => m.schedule ? [m.schedule.cron].flat().join(', ') : m.frequency],
      ['Rows', m => `${number(m.active_row_count)} of ${number(m.row_count)}`, 'n'],
      ['Last tick', m => when(m.last_run_at)],
      ['Next', m => when(m.next_run_times[0])],
      ['Why', m => m.disabled_reason ?? ''],
    ],
  });
}

// Every due slot and what came of it: a column a tick, oldest first, its height split by outcome.
function ledger(id, ticks) {
  const width = 12;
  const height = 72;
  const shown = [...ticks].reverse();
  const bars = shown.map((tick, i) => {
    const counts = OUTCOMES.map(o => [o, tick.outcomes?.[o] ?? 0]).filter(([, n]) => n > 0);
    const total = counts.reduce((sum, [, n]) => sum + n, 0);
    let y = height;
    const parts = counts.map(([outcome, n]) => {
      const part = Math.max(1, n / total * height);
      y -= part;
      return svg('rect', {x: i * width + 1, y: Math.max(0, y), width: width - 2, height: part,
                          class: `o-${outcome}`});
    });
    if (total === 0) {
      parts.push(svg('rect', {x: i * width + 1, y: 0, width: width - 2, height, class: 'o-open'}));
    }
    return svg('a', {href: `#/monitors/${id}/ticks/${tick.tick_id}`, 'aria-label': tickText(tick)},
      svg('title', null, tickText(tick)), parts);
  });
  return h('figure', null,
    h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Ticks as a picture'},
      svg('svg', {width: shown.length * width, height, role: 'group',
                  'aria-label': `The last ${shown.length} ticks; the table below has the figures`}, bars)),
    shown.length > 1 && h('p', {class: 'note axis'}, h('span', null, 'from ', when(shown[0].due_at)),
      h('span', null, 'to ', when(shown.at(-1).due_at))),
    h('figcaption', null, OUTCOMES.map(o => h('span', {class: `key o-${o}`}, o)),
      h('span', {class: 'key o-open'}, 'open')));
}

export function outcomesText(tick) {
  const text = OUTCOMES.filter(o => tick.outcomes?.[o]).map(o => `${tick.outcomes[o]} ${o}`).join(', ');
  return text || (tick.finished_at ? '' : 'open');
}

function tickText(tick) {
  return `due ${tick.due_at}: ${outcomesText(tick)}`;
}

function ticksTable(id, ticks) {
  return table('Ticks, newest first', [
    ['Due', t => h('a', {href: `#/monitors/${id}/ticks/${t.tick_id}`}, when(t.due_at))],
    ['Started', t => when(t.started_at)],
    ['Finished', t => when(t.finished_at)],
    ['By', t => t.trigger],
    ['Slots', t => number(t.slots), 'n'],
    ['Rows', t => number(t.rows), 'n'],
    ['Outcomes', outcomesText],
  ], ticks, 'No tick yet.');
}

const UNIT_S = {s: 1, m: 60, h: 3600, d: 86400, w: 604800};

// The age of a row's last completed check in its monitor's frequency: 1 is a row that is due now.
function freshness(row) {
  if (!row.last_run_at) return h('span', {class: 'none'}, 'never checked');
  const [, n, unit] = /^(\d+)([smhdw])$/.exec(row.frequency) ?? [];
  if (!unit) return when(row.last_run_at);
  const ratio = (Date.now() - Date.parse(row.last_run_at)) / 1000 / (Number(n) * UNIT_S[unit]);
  const text = ratio < 0.05 ? 'fresh' : `${number(Number(ratio.toFixed(1)))} × the frequency ago`;
  return ratio > 2 ? [h('span', {class: 'stale'}, text), ' ', badge('stale', 'bad')] : text;
}

const ROWS = [['', 'all'], ['failing', 'those whose last check failed'], ['stale', 'those that are stale']];

// A choice of which rows are listed, which the address keeps.
function rowsChoice(id, chosen) {
  const choice = h('select', {id: 'rows', change: () => {
    location.hash = `#/monitors/${id}${query({rows: choice.value})}`;
  }}, ROWS.map(([name, text]) => h('option', {value: name, selected: name === chosen}, text)));
  return h('p', {class: 'filter'}, h('span', null, h('label', {for: 'rows'}, 'Which rows'), choice));
}

export async function monitor(main, [id], filter = {}) {
  const [m, latest, errors] = await Promise.all([ask('GET', `/monitors/${id}`),
    ask('GET', `/monitors/${id}/events?event_type=change&limit=10`), ask('GET', `/monitors/${id}/events?event_type=error&limit=10`)]);
  const rows = h('div');
  const changes = latest.items.length === 0 ? h('p', {class: 'empty'}, 'No change yet.')
    : h('ol', {class: 'events'}, latest.items.map(event => eventRow(event, id)));
  replace(main,
    h('h2', null, m.name, ' ', statusBadge(m.status)),
    actions(m, () => monitor(main, [id], filter)),
    facts([
      ['Id', copyable(m.id)],
      ['Organisation', named('organisation', m.org_id)],
      ['Why', m.disabled_reason ?? '–'],
      m.run_id && ['Made by', ID.test(m.run_id) ? h('a', {href: `#/runs/${m.run_id}`}, 'a run of a workflow') : `run ${m.run_id}`],
      m.schedule ? ['By the clock', `${[m.schedule.cron].flat().join(', ')} in ${m.schedule.time_zone}`
        + (m.schedule.spread_s > 0 ? `, up to ${m.schedule.spread_s} s later` : '')] : ['Every', m.frequency],
      ['Tier', m.tier],
      ['Rows', `${number(m.active_row_count)} active of ${number(m.row_count)}`],
      ['Health', m.failing_since ? [badge('failing', 'bad'), ' since ', exactly(m.failing_since),
        errors.items.length > 0 && `: ${errors.items[0].message}`] : 'checks complete'],
      m.waiting_for && ['Waits for', m.waiting_for === 'balance' ? 'credits: its organisation cannot pay a check, and they are skipped'
        : 'the next month, or a higher spend limit of its team: checks are skipped'],
      ['Last tick', exactly(m.last_run_at)], ['Next', exactly(m.next_run_times[0])],
      ['Webhook', [m.webhook_url ?? '–', m.webhook_failing && [' ', badge('failing for 48 h', 'bad')],
        m.webhook_url && m.webhook_event_types.length === 0 && ' is told nothing: webhook_event_types is an empty list']],
      m.webhook_waiting_until && ['Deliveries wait', ['for the receiver, which failed several times in a row: tried again at ',
        exactly(m.webhook_waiting_until)]],
      ['Deliveries', h('a', {href: `#/deliveries?monitor_id=${m.id}`}, 'of this monitor')],
      ['Who changed it', h('a', {href: `#/audit?target=${m.id}`}, 'in the audit')],
    ].filter(Boolean)),
    h('h3', null, 'Watched fields'),
    facts(Object.entries(m.watched)),
    may('operator') && h('p', null, h('a', {href: `#/monitors/${id}/change`}, 'Change this monitor')),
    Object.keys(m.rules).length > 0 && [h('h3', null, 'Which changes are told'),
      facts(Object.entries(m.rules).map(([field, rules]) => [field, JSON.stringify(rules)]))],
    m.request_header_names.length > 0 && h('p', {class: 'note'}, `Pages are asked with: ${m.request_header_names.join(', ')}`),
    h('h3', null, 'Ticks'), m.ticks.length > 0 && ledger(id, m.ticks), ticksTable(id, m.ticks),
    errors.items.length > 0 && [h('h3', null, m.failing_since ? 'Why it fails' : 'Latest errors'),
      h('ol', {class: 'events'}, errors.items.map(event => eventRow(event, id)))],
    h('h3', null, 'Latest changes'), changes,
    h('p', null, h('a', {href: `#/monitors/${id}/changes`}, 'All changes and errors of this monitor')),
    h('h3', null, 'Rows'), rowsChoice(id, filter.rows ?? ''), rows);
  await showList(rows, {
    caption: 'Rows, in the order they were added', path: `/monitors/${id}/rows`,
    filter: {limit: 50, ...filter.rows && {[filter.rows]: true}}, empty: 'No row among these is one.',
    rowsOf: answer => answer.rows,
    columns: [
      ['Subject', r => h('a', {href: `#/monitors/${id}/rows/${r.id}`}, Object.values(r.subject).join(' · '))],
      ['Values', present],
      ['Checked', r => [when(r.last_run_at), r.is_failing && [' ', badge('failing', 'bad'), r.failure && ` ${r.failure.message}`]]],
      ['Freshness', freshness],
      ['State', r => r.is_active ? '' : 'switched off'],
    ],
  });
}
