// Workflows that run by themselves.

import {ask, session} from './api.js';
import {badge, h, table, when} from './dom.js';
import {again, button, field, form, nameOf, say, sureButton, timing} from './parts.js';
import {runInput} from './runs.js';

// Schedules are read workflow by workflow: beyond, a workflow is chosen.
const WORKFLOWS_READ = 20;

function newSchedule(workflows) {
  const workflow = h('select', {required: true}, h('option', {value: ''}, 'choose one'),
    workflows.map(w => h('option', {value: w.id}, w.name)));
  const name = h('input', {required: true, maxlength: 200});
  const when = timing('When');
  const input = runInput('Where the workflow reads one. It is kept as long as the schedule is, and each run reads it again.');
  return h('details', {class: 'start'}, h('summary', null, 'New schedule'),
    form([field('Workflow', workflow), field('Name', name), when.fields, input.fields], 'Create', async () => {
      await ask('POST', `/workflows/${workflow.value}/schedules`,
        {name: name.value, ...when.clock() ?? {frequency: when.frequency()}, ...await input.order()});
      say('Created.');
      again();
    }));
}

function actions(s) {
  const path = `/workflows/${s.workflow_id}/schedules/${s.id}`;
  const act = (method, behind, body, said) => async () => {
    await ask(method, path + behind, body);
    say(said);
    again();
  };
  return h('div', {class: 'buttons'},
    button(s.is_active ? 'Pause' : 'Resume', act('POST', '/update', {is_active: !s.is_active}, s.is_active ? 'Paused.' : 'Resumed.')),
    button('Run now', async () => {
      await ask('POST', `${path}/trigger`, {});
      location.hash = '#/runs';
    }),
    sureButton('Delete', 'Delete it?', act('DELETE', '', undefined, 'Deleted.')));
}

// Leads to the schedules of the other workflows.
function others(workflows, shown, asked) {
  if (workflows.length <= shown.length) return null;
  const first = asked ? h('a', {href: '#/schedules'}, 'Those of the first workflows') : 'Those of the first workflows';
  const rest = workflows.slice(WORKFLOWS_READ).filter(w => !shown.includes(w));
  return h('p', {class: 'filter'}, first, rest.length > 0 && '; of another: ',
    rest.map(w => [h('a', {href: `#/schedules?workflow_id=${w.id}`}, nameOf(w)), ' ']));
}

function emptyOf(workflows, shown, asked) {
  if (workflows.length === 0) return 'There is no workflow yet.';
  if (asked) return shown.length === 0 ? 'There is no such workflow.' : 'It does not run by itself.';
  return workflows.length > shown.length ? 'None of the first workflows runs by itself.' : 'No workflow runs by itself.';
}

export async function schedules(filter) {
  const workflows = await ask('GET', '/workflows');
  const shown = filter.workflow_id ? workflows.filter(w => w.id === filter.workflow_id) : workflows.slice(0, WORKFLOWS_READ);
  const read = await Promise.all(shown.map(async w => {
    const {schedules: found} = await ask('GET', `/workflows/${w.id}/schedules`);
    return found.map(s => ({...s, workflow: w.name}));
  }));
  const may = session.may('member');
  return h('div', null, h('h2', null, 'Schedules'),
    may && workflows.length > 0 && newSchedule(workflows),
    others(workflows, shown, filter.workflow_id),
    filter.workflow_id && shown.length > 0 && h('p', null, 'Those of ', h('strong', null, nameOf(shown[0])), '.'),
    table('Schedules of workflows', [
      ['Name', s => s.name],
      ['Workflow', s => s.workflow],
      ['When', s => s.cron ? [h('code', null, [s.cron].flat().join('; ')), ` ${s.time_zone}`] : `every ${s.frequency}`],
      ['Next', s => when(s.next_run_times[0])],
      ['State', s => [s.is_active ? badge('active', 'good') : badge('paused', 'warn'), s.paused_message && ` ${s.paused_message}`]],
      may && ['Actions', actions],
    ].filter(Boolean), read.flat(), emptyOf(workflows, shown, filter.workflow_id)));
}
