// Runs of workflows: their list, and one as the graph of its blocks.

import {ask, may, query} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, statusBadge, svg, table, when} from './dom.js';
import {why} from './jobs.js';
import {filterForm, showList} from './list.js';
import {caller, named} from './names.js';

const STATUSES = ['active', 'queued', 'running', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'];
const OPEN = ['queued', 'running'];

export async function runs(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Runs'), filterForm([
    {name: 'status', label: 'Status', options: [['', 'any'], ...STATUSES.map(name => [name, name])]},
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
  ], filter, f => { location.hash = `#/runs${query(f)}`; }), list);
  await showList(list, {
    caption: 'Runs, newest first', path: '/runs', filter, empty: 'No run matches.',
    columns: [
      ['Run', r => h('a', {href: `#/runs/${r.id}`}, when(r.created_at))],
      ['Workflow', r => r.workflow_name],
      ['Status', r => statusBadge(r.status)],
      ['Why', r => r.status_reason ?? ''],
      ['Organisation', r => named('organisation', r.org_id)],
      ['Blocks', r => number(r.blocks), 'n'],
      ['Rows in', r => number(r.rows_in), 'n'],
      ['Rows out', r => number(r.rows_out), 'n'],
      ['Errors', r => r.row_errors > 0 ? badge(number(r.row_errors), 'warn') : number(r.row_errors), 'n'],
      ['Charged', r => number(r.charged), 'n'],
      ['Ended', r => when(r.finished_at)],
    ],
  });
}

// In units of the drawing.
const BOX = {width: 190, height: 64, right: 50, below: 22};
const TITLE_CHARS = 22;

const shorter = text => text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS - 1)}…` : text;

// The place of each block: to the right of what it works on, and beside its neighbours. A block that several work on
// stands at the middle of them.
function places(blocks) {
  const inputs = blocks.map(b => blocks.findIndex(other => other.block_id === b.previous_block_ids[0]));
  const at = blocks.map(() => ({column: 0, row: 0}));
  inputs.forEach((input, n) => { if (input >= 0) at[n].column = at[input].column + 1; });
  let rows = 0;
  const settle = n => {
    const consumers = inputs.flatMap((input, m) => (input === n ? [m] : []));
    consumers.forEach(settle);
    at[n].row = consumers.length === 0 ? rows++ : consumers.reduce((sum, m) => sum + at[m].row, 0) / consumers.length;
  };
  inputs.forEach((input, n) => { if (input < 0) settle(n); });
  return {inputs, at, rows, columns: Math.max(...at.map(place => place.column)) + 1};
}

const percent = b => `${b.progress_percentage} %`;

function box(block, x, y) {
  const done = BOX.width * block.progress_percentage / 100;
  return svg('g', {class: `block ${block.status}`},
    svg('rect', {x, y, width: BOX.width, height: BOX.height, rx: 6, class: 'frame'}),
    svg('text', {x: x + 10, y: y + 22, class: 'title'}, shorter(`${block.sequence_number} ${block.type}`)),
    svg('text', {x: x + 10, y: y + 42}, `${block.status}, ${percent(block)}`),
    svg('rect', {x, y: y + BOX.height - 8, width: BOX.width, height: 8, class: 'left'}),
    svg('rect', {x, y: y + BOX.height - 8, width: done, height: 8, class: 'done'}));
}

function graph(run) {
  const {inputs, at, rows, columns} = places(run.blocks);
  const x = n => 1 + at[n].column * (BOX.width + BOX.right);
  const y = n => 1 + at[n].row * (BOX.height + BOX.below);
  const middle = n => y(n) + BOX.height / 2;
  const edge = (from, to) => svg('path', {class: 'edge', d:
    `M ${x(from) + BOX.width} ${middle(from)} C ${x(from) + BOX.width + BOX.right / 2} ${middle(from)} `
    + `${x(to) - BOX.right / 2} ${middle(to)} ${x(to)} ${middle(to)}`});
  const width = columns * (BOX.width + BOX.right) - BOX.right + 2;
  const height = rows * (BOX.height + BOX.below) - BOX.below + 2;
  const said = run.blocks.map(b => `${b.type} ${b.status} ${percent(b)}`).join(', ');
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Graph of the blocks'},
    svg('svg', {class: 'graph', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
                'aria-label': `Blocks: ${said}`},
      inputs.map((input, n) => input >= 0 && edge(input, n)), run.blocks.map((b, n) => box(b, x(n), y(n)))));
}

function cancel(r, again) {
  return may('operator') && h('p', {class: 'buttons'}, h('button', {type: 'button', class: 'final', click: async () => {
    const done = await confirmChange({
      title: 'Cancel this run', button: 'Cancel the run', reasonRequired: true, danger: true,
      what: 'None of its rows starts 5 seconds after this, anywhere. What is recorded stays, is paid for and can be '
        + 'downloaded; the rest of the reservation is returned. This cannot be undone.',
      act: values => ask('POST', `/runs/${r.id}/cancel`, values),
    });
    if (done) again();
  }}, 'Cancel the run'));
}

// The links open for everybody who has them: they are asked for by a click, which the audit keeps.
function filesOf(r) {
  const shown = h('div');
  const show = (files, link) => replace(shown, table('Files', [
    ['Block', f => f.block_name],
    ['Rows', f => number(f.rows), 'n'],
    ['File', link],
  ], files, 'No block has made rows.'));
  show(r.files, file => file.filename);
  const ask_links = h('button', {type: 'button', click: async () => {
    show((await ask('GET', `/runs/${r.id}?rows=true`)).files, fileLink);
    ask_links.remove();
    shown.firstChild.focus();  // the table
  }}, 'Show links to the files');
  return [shown, r.files.length > 0 && h('p', {class: 'buttons'}, ask_links)];
}

function fileLink(file) {
  return file.url === null ? [file.filename, h('span', {class: 'note'}, ' no link: [api] public_url is empty')]
    : h('a', {href: file.url, download: file.filename, rel: 'noreferrer'}, file.filename);
}

export async function run(main, [id]) {
  const r = await ask('GET', `/runs/${id}`);
  const failed = r.blocks.filter(b => b.error !== null);
  const chunks = r.chunks.filter(c => c.last_error !== null || c.claims > 1);
  replace(main,
    h('h2', null, `Run of ${r.workflow_name} `, statusBadge(r.status)),
    OPEN.includes(r.status) && cancel(r, () => run(main, [id])),
    failed.map(b => h('p', {class: 'bad'}, `Block ${b.sequence_number} (${b.type}) failed: ${b.error}`)),
    facts([
      ['Id', copyable(r.id)], ['Workflow', copyable(r.workflow_id)],
      ['Schedules', [h('a', {href: `#/schedules?workflow_id=${r.workflow_id}`}, 'of its workflow'),
        may('operator') && ['; ', h('a', {href: `#/organisations/${r.org_id}/workflows/${r.workflow_id}/new-schedule`}, 'make a new one')]]],
      r.schedule_id && ['Made by', [h('a', {href: `#/schedules/${r.schedule_id}`}, 'its schedule'),
        r.scheduled_at === null ? ', by hand' : [' for ', exactly(r.scheduled_at)]]],
      ['Progress', `${r.progress_percentage} %`],
      ['Why', why(r) || '–'], ['Error', r.error ?? '–'],
      ['Organisation', named('organisation', r.org_id)],
      ['Caller', caller(r.caller, r.org_id)],
      ['Estimate', number(r.estimate)], ['Reserved', number(r.reserved)], ['Charged', number(r.charged)],
      ['Made', exactly(r.created_at)], ['Started', exactly(r.started_at)], ['Deadline', exactly(r.deadline_at)],
      ['Ended', exactly(r.finished_at)],
      ['As a job', h('a', {href: `#/jobs/${r.id}`}, 'with its chunks and its deliveries')],
      ['Deliveries', h('a', {href: `#/deliveries?job_id=${r.id}`}, 'not delivered')],
      ['Monitors', h('a', {href: `#/monitors${query({org_id: r.org_id, run_id: r.id})}`}, 'made by this run')],
      ['Changes of it', h('a', {href: `#/audit?target=${r.id}`}, 'in the audit')],
    ].filter(Boolean)),
    graph(r),
    table('Blocks', [
      ['No.', b => number(b.sequence_number), 'n'],
      ['Type', b => b.type],
      ['Status', b => statusBadge(b.status)],
      ['Progress', percent, 'n'],
      ['Parts', b => `${number(b.parts_done)} of ${number(b.parts_total)}`, 'n'],
      ['Rows out', b => number(b.rows_out), 'n'],
      ['Errors', b => number(b.row_errors), 'n'],
      ['Charged', b => number(b.rows_charged), 'n'],
      ['Moved', b => when(b.updated_at)],
      ['Last error', b => b.error ?? b.last_error ?? ''],
    ], r.blocks),
    filesOf(r),
    h('p', {class: 'note'}, r.chunks.length === 0 ? 'No chunk is left.' : [`${number(r.chunks.length)} chunks are not `
      + 'done; ', h('a', {href: `#/jobs/${r.id}`}, 'all of them')]),
    table('Chunks that were tried again or failed', [
      ['Block', c => number(c.block), 'n'],
      ['Part', c => number(c.part), 'n'],
      ['State', c => (c.leased ? badge('leased', 'good') : badge('waits', 'warn'))],
      ['Claims', c => number(c.claims), 'n'],
      ['Last error', c => c.last_error ?? ''],
    ], chunks, 'No chunk was tried again or failed.'));
}
