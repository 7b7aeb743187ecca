import {ask, may, query} from './api.js';
import {waits} from './deliveries.js';
import {confirmChange} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, statusBadge, table, when} from './dom.js';
import {filterForm, showList} from './list.js';
import {caller, named, partOf} from './names.js';

const KINDS = ['find_email', 'find_email_bulk', 'reverse_email', 'reverse_email_bulk', 'verify_age', 'investigation',
               'workflow'];
const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'];
const OPEN = ['queued', 'running'];

const anyOf = names => [['', 'any'], ...names.map(name => [name, name])];

// A deadline that has passed while the job is open is what an operator looks for.
function deadline(job) {
  return overdue(job) ? [badge('overdue', 'bad'), ' ', when(job.deadline_at)] : when(job.deadline_at);
}

// A job that stands still says until when.
export function why(job) {
  return job.waiting_until ? [job.status_reason, ' until ', when(job.waiting_until)] : job.status_reason ?? '';
}

const overdue = job => OPEN.includes(job.status) && new Date(job.deadline_at) < Date.now();

// What ails a job: rows that could not be done, and chunks that were claimed again and again.
function health(j) {
  const errors = j.blocks.reduce((sum, b) => sum + b.row_errors, 0);
  const retried = j.chunks.filter(c => c.claims > 1 || c.last_error !== null).length;
  return [errors > 0 && badge(`rows with errors: ${number(errors)}`, 'warn'), ' ',
    retried > 0 && badge(`chunks tried again: ${number(retried)}`, 'warn'),
    errors + retried === 0 && 'no errors'];
}

export async function jobs(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Jobs'), filterForm([
    {name: 'kind', label: 'Kind', options: anyOf(KINDS)},
    {name: 'status', label: 'Status', options: anyOf(STATUSES)},
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
  ], filter, f => { location.hash = `#/jobs${query(f)}`; }), list);
  await showList(list, {
    caption: 'Jobs, newest first', path: '/jobs', filter, empty: 'No job matches.',
    columns: [
      ['Job', j => h('a', {href: `#/jobs/${j.id}`}, when(j.created_at))],
      ['Kind', j => j.kind],
      ['Status', j => statusBadge(j.status)],
      ['Why', j => [why(j), j.error && h('div', {class: 'bad'}, j.error)]],
      ['Organisation', j => named('organisation', j.org_id)],
      ['Charged', j => number(j.charged), 'n'],
      ['Reserved', j => number(j.reserved), 'n'],
      ['Deadline', deadline],
      ['Ended', j => when(j.finished_at)],
    ],
  });
}

// What a chunk waits for. A claim that is not followed by progress is a worker that did not come back.
function chunkState(chunk) {
  if (chunk.leased) return badge('leased', 'good');
  return new Date(chunk.available_at) > Date.now() ? badge('waiting', 'off') : badge('due', 'warn');
}

function terminate(job, again) {
  return may('operator') && h('p', {class: 'buttons'}, h('button', {type: 'button', class: 'final', click: async () => {
    const done = await confirmChange({
      title: 'Terminate this job', button: 'Terminate', reasonRequired: true, danger: true,
      what: 'None of its rows starts 5 seconds after this, anywhere. Rows that are recorded stay and are paid for; the '
        + 'rest of the reservation is returned, and the callback is sent. This cannot be undone.',
      act: values => ask('POST', `/jobs/${job.id}/terminate`, values),
    });
    if (done) again();
  }}, 'Terminate'));
}

export async function job(main, [id]) {
  const j = await ask('GET', `/jobs/${id}`);
  replace(main,
    h('h2', null, `Job ${j.kind} `, statusBadge(j.status)),
    OPEN.includes(j.status) && terminate(j, () => job(main, [id])),
    facts([
      ['Id', copyable(j.id)],
      ['Health', health(j)],
      j.kind === 'workflow' && ['Run', h('a', {href: `#/runs/${j.id}`}, 'as the graph of its blocks')],
      ['Why', why(j) || '–'], ['Error', j.error ?? '–'],
      ['Organisation', named('organisation', j.org_id)],
      ['Team', partOf(j.org_id, j.team_id)], ['Caller', caller(j.caller, j.org_id)],
      ['Estimate', number(j.estimate)], ['Reserved', number(j.reserved)], ['Charged', number(j.charged)],
      ['Made', exactly(j.created_at)], ['Started', exactly(j.started_at)],
      ['Deadline', [exactly(j.deadline_at), overdue(j) && [' ', badge('overdue', 'bad')]]],
      ['Ended', exactly(j.finished_at)],
      ['Deliveries', h('a', {href: `#/deliveries?job_id=${j.id}`}, 'not delivered')],
      ['Changes of it', h('a', {href: `#/audit?target=${j.id}`}, 'in the audit')],
    ].filter(Boolean)),
    table('Blocks', [
      ['No.', b => number(b.block), 'n'],
      ['Type', b => b.type],
      ['Lane', b => b.lane],
      ['Status', b => statusBadge(b.status)],
      ['Parts', b => `${number(b.parts_done)} of ${number(b.parts_total)}`, 'n'],
      ['Rows done', b => number(b.rows_done), 'n'],
      ['Errors', b => number(b.row_errors), 'n'],
      ['Charged', b => number(b.rows_charged), 'n'],
      ['Moved', b => when(b.updated_at)],
      ['Last error', b => b.error ?? b.last_error ?? ''],
    ], j.blocks),
    table('Chunks that are not done', [
      ['Block', c => number(c.block), 'n'],
      ['Part', c => number(c.part), 'n'],
      ['Lane', c => c.lane],
      ['State', chunkState],
      ['Claims', c => number(c.claims), 'n'],
      ['Records', c => number(c.progress), 'n'],
      ['Last try of', c => c.suspect === null ? '' : c.suspect < 0 ? 'the part' : `row ${c.suspect}`],
      ['Due', c => when(c.due_at)],
      ['Available', c => when(c.available_at)],
      ['Last error', c => c.last_error ?? ''],
    ], j.chunks, 'No chunk is left.'),
    table('Deliveries', [
      ['Delivery', d => h('a', {href: `#/deliveries/${d.id}`}, when(d.created_at))],
      ['State', d => statusBadge(d.state)],
      ['Type', d => d.type],
      ['Attempts', d => number(d.attempts), 'n'],
      ['Next attempt', d => when(d.next_attempt_at)],
      ['Waits for', waits],
      ['Last error', d => d.last_error ?? ''],
    ], j.deliveries, 'No callback.'));
}
