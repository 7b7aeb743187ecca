// Runs of workflows: how far each block is, and the files that it has made.

import {ask, session} from './api.js';
import {duration, h, number, replace, statusBadge, table, when} from './dom.js';
import {button, say, sureButton} from './parts.js';

async function showProgress(box, id) {
  const live = await ask('GET', `/workflows/runs/${id}/live_status`);
  replace(box, live.blocks.map(block => h('p', null, `${block.block_name} `,
    h('progress', {max: 100, value: block.progress_percentage ?? 0, 'aria-label': block.block_name}),
    ` ${number(block.processed_count)} of ${number(block.total_count)}`)));
}

async function showFiles(box, id) {
  const answer = await ask('GET', `/workflows/runs/${id}/results/download-links`);
  const files = Array.isArray(answer) ? answer : [answer];
  replace(box, h('ul', null, files.map(file =>
    h('li', null, h('a', {href: file.download_url, download: file.filename}, file.filename), ` ${number(file.row_count)} rows`))));
}

export async function runs() {
  const found = await ask('GET', '/workflows/runs?limit=100');
  return h('div', null, h('h2', null, 'Runs'), table('Runs', [
    ['Began', run => when(run.started_at ?? run.queued_at)],
    ['Workflow', run => run.workflow_name],
    ['Status', run => [statusBadge(run.status), run.error_message && ` ${run.error_message}`]],
    ['Took', run => duration(run.duration_ms)],
    ['', run => {
      const box = h('div');
      const goesOn = ['queued', 'running'].includes(run.status);
      return [h('div', {class: 'buttons'},
        button('Progress', () => showProgress(box, run.job_id)),
        run.status === 'completed' && button('Files', () => showFiles(box, run.job_id)),
        goesOn && session.may('member') && sureButton('Cancel', 'Cancel it?', async () => {
          await ask('POST', `/workflows/cancel?job_id=${run.job_id}`, {});
          say('It is being cancelled.');
        })), box];
    }],
  ], found, 'No runs yet.'));
}
