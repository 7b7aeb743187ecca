import {ask, may} from './api.js';
import {Chart, haveCharts} from './charts.js';
import {confirmChange} from './dialog.js';
import {badge, duration, h, number, replace, table, when} from './dom.js';
import {named} from './names.js';
import {Rates} from './rates.js';

const RENEW_MS = 3000;

// `page`: where what is counted is listed, for those that have such a list.
function tile(title, figure, note, kind, page) {
  return h('div', {class: `tile ${kind ?? ''}`},
    h('h3', null, page ? h('a', {href: page}, title) : title), h('p', {class: 'figure'}, figure), h('p', {class: 'note'}, note));
}

function tiles(o) {
  const lag = o.chunks.oldest_due_age_ms;
  const waiting = o.deliveries.oldest_pending_age_ms;
  return h('div', {class: 'tiles'},
    tile('Checks due', number(o.checks.due), `oldest due ${duration(lag)}`,
      lag > 60000 ? 'bad' : ''),
    tile('Checks running', number(o.checks.leased),
      `${number(o.chunks.leased)} chunks leased, ${number(o.chunks.waiting)} waiting`),
    tile('Jobs open', number(o.jobs.open.reduce((n, some) => n + some.jobs, 0)),
      o.jobs.overdue_ms > 0 ? `a deadline passed ${duration(o.jobs.overdue_ms)} ago` : 'none past its deadline',
      o.jobs.overdue_ms > 30000 ? 'bad' : '', '#/jobs?status=running'),
    tile('Requests waiting', number(o.waits.used), `of ${number(o.waits.max)} places`,
      o.waits.used > 0.8 * o.waits.max ? 'bad' : ''),
    tile('Monitors failing', number(o.monitors.failing), 'every check of the last tick failed',
      o.monitors.failing > 0 ? 'bad' : '', '#/monitors?failing=true'),
    tile('Monitors late', number(o.monitors.late), noWorker(o) ? 'and none is checked' : `of ${number(o.monitors.live)} live`,
      o.monitors.late > 0 || noWorker(o) ? 'bad' : ''),
    tile('Deliveries pending', number(o.deliveries.pending), `oldest ${duration(waiting)}`,
      waiting > 3600000 ? 'bad' : '', '#/deliveries?state=pending'),
    tile('Deliveries dead', number(o.deliveries.dead), 'to be looked at and replayed',
      o.deliveries.dead > 0 ? 'bad' : '', '#/deliveries?state=dead'),
    tile('Receivers failing', number(o.receivers.failing), 'for 48 hours on end',
      o.receivers.failing > 0 ? 'bad' : ''));
}

// Null of a process that does not ask mail servers, or has not looked yet.
function mail(checks) {
  if (!checks) return '';
  const ill = checks.filter(c => c.status !== 'ok');
  if (!ill.length) return 'ok';
  return badge(ill.map(c => c.check).join(', '), ill.some(c => c.status === 'fail') ? 'bad' : 'warn');
}

function fleet(o) {
  return table(o.cell ? `Fleet, cell ${o.cell}` : 'Fleet', [
    ['Process', m => `${m.host} ${m.pid}${m.answering ? ' (this one)' : ''}`],
    ['Roles', m => m.roles.join(', ')],
    ['Lanes of jobs', m => m.jobs.lanes.join(', ')],
    ['Waiting', m => m.jobs.waits?.max ? `${number(m.jobs.waits.used)} of ${number(m.jobs.waits.max)}` : '', 'n'],
    ['Mail', m => mail(m.mail_check)],
    ['Version', m => m.version],
    ['Secrets', m => m.counters.secrets_unreadable > 0
      ? badge(`${number(m.counters.secrets_unreadable)} cannot be opened`, 'bad') : ''],
    ['Up since', m => when(m.started_at)],
    ['Heartbeat', m => m.heartbeat_age_ms > 15000
      ? badge(`${duration(m.heartbeat_age_ms)} ago`, 'bad') : `${duration(m.heartbeat_age_ms)} ago`],
    ['State', m => m.draining ? badge('draining', 'warn') : ''],
  ], o.members, 'No process has been heard of in the last minutes.');
}

const outcome = name => [name, `o-${name}`, point => point.checks[name]];
const attempt = (name, colour) => [name, colour, point => point.deliveries[name]];

function makeCharts() {
  return [
    new Chart({title: 'Checks a second, by outcome', unit: '', lines: [
      'changed', 'unchanged', 'failed', 'skipped_balance', 'skipped_spend_limit', 'skipped_paused',
      'skipped_overlap', 'inactive'].map(outcome)}),
    new Chart({title: 'Schedule lag', unit: ' s', lines: [
      ['p50', 'o-changed', point => point.lag.p50], ['p99', 'o-skipped_balance', point => point.lag.p99]]}),
    new Chart({title: 'Attempts at deliveries a second', unit: '', lines: [
      attempt('delivered', 'o-unchanged'), attempt('retried', 'o-skipped_balance'), attempt('dead', 'o-failed')]}),
    new Chart({title: 'Oldest that waits', unit: ' s', lines: [
      ['due check', 'o-changed', point => point.oldestDue], ['pending delivery', 'o-skipped_paused', point => point.oldestPending]]}),
  ];
}

// What was seen since the console was opened, which stays while other pages are looked at.
const rates = new Rates();
const points = [];
const POINTS_MAX = 1200;  // an hour
const NO_RATES = {checks: {}, deliveries: {}, lag: {}};

// The rates at this overview, where members were heard of twice, with what waits.
function pointOf(o) {
  const now = rates.add(o);
  return {at: Date.parse(o.at), ...now ?? NO_RATES, rated: now !== null,
          oldestDue: (o.chunks.oldest_due_age_ms ?? 0) / 1000,
          oldestPending: (o.deliveries.oldest_pending_age_ms ?? 0) / 1000};
}

const FRESH_MS = 15000;  // a process not heard of for this long does nothing
const WITHOUT = {worker: 'nothing is checked', scheduler: 'no tick begins', delivery: 'no notification is sent'};

const lacks = (o, role) => !o.members.some(m => m.heartbeat_age_ms <= FRESH_MS && m.roles.includes(role));
const noWorker = o => lacks(o, 'worker');

// What the fleet cannot do at all: it stands above every figure.
function missing(o) {
  return Object.entries(WITHOUT).map(([role, so]) => lacks(o, role)
    && h('p', {class: 'bad', role: 'alert'}, `No process that answers has the role ${role}: ${so}.`));
}

function show(o) {
  return [
    fleet(o),
    o.monitors.failing_longest.length > 0 && table('Monitors that fail, the longest first', [
      ['Monitor', m => h('a', {href: `#/monitors/${m.id}`}, m.name)],
      ['Organisation', m => named('organisation', m.org_id)],
      ['Failing since', m => when(m.failing_since)],
    ], o.monitors.failing_longest),
    o.monitors.failing > o.monitors.failing_longest.length
      && h('p', null, h('a', {href: '#/monitors?failing=true'}, `All ${number(o.monitors.failing)} monitors that fail`)),
    table('Largest backlog', [
      ['Organisation', b => h('a', {href: `#/organisations/${b.org_id}`}, b.name)],
      ['Checks due', b => number(b.checks), 'n'],
      ['Chunks', b => number(b.chunks), 'n'],
      ['Oldest due', b => duration(b.oldest_due_age_ms), 'n'],
    ], o.backlog, 'No check waits.'),
    table('Job chunks by lane', [
      ['Lane', l => l.lane],
      ['Due', l => number(l.due), 'n'],
      ['Leased', l => number(l.leased), 'n'],
      ['Waiting', l => number(l.waiting), 'n'],
      ['Oldest due', l => duration(l.oldest_due_age_ms), 'n'],
      ['Processes that serve it', l => l.members === 0 && l.due > 0 ? badge('none', 'bad') : number(l.members), 'n'],
    ], o.jobs.lanes),
    o.waits.organisations.length > 0 && table('Organisations whose clients wait for jobs', [
      ['Organisation', w => h('a', {href: `#/organisations/${w.org_id}`}, w.name)],
      ['Jobs', w => number(w.jobs), 'n'],
    ], o.waits.organisations),
    o.receivers.longest.length > 0 && table('Receivers that have failed for 48 hours', [
      ['Receiver', r => r.address],
      ['Organisation', r => named('organisation', r.org_id)],
      ['Failing since', r => when(r.failing_since)],
      ['Last attempt', r => when(r.failed_at)],
      ['Failures', r => number(r.failures), 'n'],
    ], o.receivers.longest),
    table('Latest monitors', [
      ['Monitor', m => h('a', {href: `#/monitors/${m.id}`}, m.name)],
      ['Frequency', m => m.frequency],
      ['Late by', m => duration(m.late_ms), 'n'],
      ['Last tick', m => when(m.last_run_at)],
    ], o.monitors.stalest, noWorker(o) ? 'No process makes checks, so that nothing is on time.' : 'Every monitor is on time.'),
  ];
}

// Ends the process that serves this console.
function drainButton() {
  return may('operator') && h('p', {class: 'buttons'}, h('button', {type: 'button', class: 'final', click: () => confirmChange({
    title: 'Drain this process', button: 'Drain', danger: true,
    what: 'The process that answers here takes no new work, gives back what it has not begun, and ends. Others go on with it; this '
      + 'console is gone until a process serves it again.',
    act: values => ask('POST', '/drain', values),
  })}, 'Drain this process'));
}

// Renewed every few seconds while the page is looked at; returns what ends that. `seen` is told of every renewal.
export async function overview(main, _, __, seen) {
  const problem = h('p', {class: 'bad', role: 'alert'});
  const figures = h('div');
  const note = h('p', {class: 'note'}, 'The first rates come with the next heartbeats, within 10 seconds.');
  const body = h('div');
  const charts = makeCharts();
  replace(main, h('h2', null, 'Overview'), problem, figures,
    h('div', {class: 'charts'}, charts.map(chart => chart.element)), note,
    !haveCharts && h('p', {class: 'note'}, 'This build has no charts: the charting library could not be fetched.'),
    body, drainButton());
  for (const chart of charts) for (const point of points) chart.take(point);
  let ended = false;
  let asking = false;
  const renew = async () => {
    asking = true;
    const o = await ask('GET', '/overview').finally(() => { asking = false; });
    if (ended) return;
    replace(problem);
    replace(figures, ...missing(o), tiles(o));
    replace(body, ...show(o));
    const point = pointOf(o);
    points.push(point);
    if (points.length > POINTS_MAX) points.shift();
    note.hidden = point.rated;
    for (const chart of charts) chart.add(point);
    seen();
  };
  await renew();
  const timer = setInterval(() => {
    if (document.visibilityState !== 'visible' || asking) return;
    renew().catch(e => { if (!ended) replace(problem, e.message); });
  }, RENEW_MS);
  const fit = () => charts.forEach(chart => chart.show());
  addEventListener('resize', fit);
  return () => {
    ended = true;
    clearInterval(timer);
    removeEventListener('resize', fit);
    for (const chart of charts) chart.close();
  };
}
