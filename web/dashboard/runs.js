// Runs of workflows: their list, one as bars by block with the files that it has made, and the form that starts one.

import {ask, session} from './api.js';
import {duration, exactly, facts, h, number, replace, statusBadge, table, when} from './dom.js';
import {shareBar} from './figures.js';
import {button, field, form, goOn, guarded, list, say, sureButton} from './parts.js';

const ASK_AGAIN_MS = 5000;

const goesOn = status => ['queued', 'running'].includes(status);

const block = b => h('li', {class: `run-block ${b.status}`},
  h('p', null, h('strong', null, `${b.sequence_number} ${b.block_name}`), ' ', statusBadge(b.status)),
  shareBar(`${b.block_name}: ${b.progress_percentage} %`, b.progress_percentage / 100),
  h('p', {class: 'note'}, `${number(b.progress_percentage)} %, ${number(b.processed_count)} of ${number(b.total_count)} rows in, `
    + `${number(b.metrics?.row_count ?? 0)} rows out`),
  b.error_message && h('p', {class: 'bad'}, b.error_message));

// The links live for minutes, so that they are asked for by a click.
function files(id) {
  const box = h('div');
  return h('div', null, h('p', null, button('Files', async () => {
    const found = await ask('GET', `/workflows/runs/${id}/results/download-links`);
    replace(box, table('Files', [
      ['File', f => h('a', {href: f.download_url, download: f.filename}, f.filename)],
      ['Block', f => f.block_name],
      ['Rows', f => number(f.row_count), 'n'],
    ], found, 'No block has made rows.'));
  })), box);
}

export async function run(id) {
  const box = h('div');
  let status = null;
  async function show() {
    const live = await ask('GET', `/workflows/runs/${id}/live_status`);
    const again = status !== live.overall_status;
    status = live.overall_status;
    const bars = h('ol', {class: 'run-blocks'}, live.blocks.map(block));
    if (!again) return box.querySelector('.run-blocks').replaceWith(bars);
    replace(box,
      facts([
        ['Status', [statusBadge(status), live.status_reason && ` ${live.status_reason}`]],
        ['Began', exactly(live.started_at)],
        ['Ended', exactly(live.completed_at)],
        ['Workflow', h('code', null, live.workflow_id)],
      ]),
      live.error_message && h('p', {class: 'bad'}, live.error_message),
      goesOn(status) && session.may('member') && sureButton('Cancel', 'Cancel it? What is done stays.', async () => {
        await ask('POST', `/workflows/cancel?job_id=${id}`, {});
        say('It is cancelled.');
        await show();
      }),
      h('h3', null, 'Blocks'), bars, h('h3', null, 'Results'), files(id));
  }
  async function follow() {
    if (!box.isConnected || !goesOn(status)) return;
    await guarded(show);
    setTimeout(follow, ASK_AGAIN_MS);
  }
  await show();
  setTimeout(follow, ASK_AGAIN_MS);
  return h('div', null, h('p', null, h('a', {href: '#/runs'}, 'All runs')), h('h2', null, 'Run'), box);
}

// What a run is given: a file for a workflow that reads one, records for one that is called; else it takes what is saved in it.
export function runInput(ofFile = 'Where the workflow reads one; else it takes the input that is saved in it.') {
  const file = h('input', {type: 'file', accept: '.csv,text/csv'});
  const records = h('textarea', {rows: 3, spellcheck: 'false', placeholder: '[{"domain": "a.example"}]'});
  const order = async () => {
    const given = {};
    if (records.value.trim() !== '') {
      try {
        given.webhook_payload = JSON.parse(records.value);
      } catch (e) {
        throw new Error(`Records are no JSON: ${e.message}`);
      }
    }
    if (file.files.length > 0) {
      const {handle_id} = await ask('POST', '/storage/csv/upload', file.files[0]);
      given.specs_override = {resource_handle_id: handle_id};
    }
    return given;
  };
  return {fields: [
    field('CSV file', file, ofFile),
    field('Records', records, 'As JSON, where the workflow takes a webhook; else it takes those that are saved in it.'),
  ], order};
}

function startForm(workflows) {
  const which = h('select', {required: true}, h('option', {value: ''}, 'choose one'),
    workflows.map(w => h('option', {value: w.id}, w.name)));
  const input = runInput();
  return form([field('Workflow', which), input.fields], 'Start', async () => {
    const started = await ask('POST', `/workflows/run?workflow_id=${which.value}`, await input.order());
    goOn(`#/runs/${started.job_id}`, (started.warnings ?? []).concat('It is queued.').join(' '));
  });
}

export async function runs() {
  const [shown, workflows] = await Promise.all([list({path: '/workflows/runs', caption: 'Runs, newest first', empty: 'No runs yet.', columns: [
    ['Queued', r => h('a', {href: `#/runs/${r.job_id}`}, when(r.queued_at))],
    ['Workflow', r => r.workflow_name],
    ['Status', r => [statusBadge(r.status), r.error_message && ` ${r.error_message}`]],
    ['Blocks', r => number(r.blocks_count), 'n'],
    ['Took', r => duration(r.duration_ms), 'n'],
  ]}), ask('GET', '/workflows')]);
  return h('div', null, h('h2', null, 'Runs'),
    session.may('member') && workflows.length > 0 && h('details', {class: 'start'}, h('summary', null, 'Start a run'), startForm(workflows)),
    shown);
}
