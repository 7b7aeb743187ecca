// Workflows on a schedule: their list, one with its next times and what became of its slots, and its form.

import {ask, may, query} from './api.js';
import {confirmChange} from './dialog.js';
import {badge, copyable, exactly, facts, h, number, replace, table, when} from './dom.js';
import {area, changeSender, clockOf, cronText, Form, labelled, showForm, text} from './form.js';
import {filterForm, showList} from './list.js';
import {named} from './names.js';

const OVERLAPS = [['skip', 'skip the slot'], ['queue_one', 'let one slot wait'], ['allow', 'run beside it']];
const OUTCOMES = {started: 'good', skipped: 'warn', waiting: 'off'};
const FIELD_OF = {
  invalid_frequency: 'frequency', invalid_schedule: 'cron', invalid_time_zone: 'time_zone', missing_payload: 'webhook_payload',
  missing_columns: 'webhook_payload', source_not_webhook: 'webhook_payload', empty_payload: 'webhook_payload',
  missing_resource_handle: 'specs_override', invalid_resource_handle: 'specs_override',
};

const state = s => s.is_active ? badge('active', 'good') : badge('paused', 'warn');
const often = s => s.cron === null ? `every ${s.frequency}` : `${[s.cron].flat().join(', ')} in ${s.time_zone}`;

export async function schedules(main, _, filter) {
  const list = h('div');
  replace(main, h('h2', null, 'Schedules of workflows'), filterForm([
    {name: 'status', label: 'Status', options: [['', 'any'], ['active', 'active'], ['paused', 'paused']]},
    {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    {name: 'workflow_id', label: 'Workflow (id)'},
  ], filter, f => { location.hash = `#/schedules${query(f)}`; }), list);
  await showList(list, {
    caption: 'Schedules, newest first', path: '/schedules', filter, empty: 'No schedule matches.',
    columns: [
      ['Name', s => h('a', {href: `#/schedules/${s.id}`}, s.name)],
      ['Status', state],
      ['Organisation', s => named('organisation', s.org_id)],
      ['When', often],
      ['Next', s => when(s.next_run_times[0])],
      ['Why', s => s.paused_message ?? ''],
    ],
  });
}

function actions(s, again) {
  const button = (name, what, {title, path, reasonRequired}) => h('button', {type: 'button', click: async () => {
    const done = await confirmChange({
      title: `${title}: ${s.name}`, what, button: title, reasonRequired,
      act: ({reason}) => ask('POST', path, {reason}),
    });
    if (done) again(done);
  }}, title);
  return may('operator') && h('p', {class: 'buttons'},
    s.is_active ? button('pause', 'No run of it starts any more from now on; runs that go on are not ended. Its owner sees the reason.',
      {title: 'Pause', path: `/schedules/${s.id}/pause`, reasonRequired: true})
      : button('resume', 'It runs again at its next slot. Slots that passed are not made up for.',
        {title: 'Resume', path: `/schedules/${s.id}/resume`}),
    button('trigger', 'A run of it starts at once, outside the schedule, and its organisation is charged as for any run.',
      {title: 'Run now', path: `/orgs/${s.org_id}/workflows/${s.workflow_id}/schedules/${s.id}/trigger`}));
}

export async function schedule(main, [id]) {
  const s = await ask('GET', `/schedules/${id}`);
  const again = done => done.job_id ? void (location.hash = `#/runs/${done.job_id}`) : schedule(main, [id]);
  replace(main,
    h('h2', null, s.name, ' ', state(s)),
    actions(s, again),
    s.paused_message && h('p', {class: 'bad'}, `Paused: ${s.paused_message}`),
    facts([
      ['Id', copyable(s.id)], ['Workflow', copyable(s.workflow_id)],
      ['Organisation', named('organisation', s.org_id)],
      ['When', often(s)],
      ['Next', s.next_run_times.length === 0 ? '–' : s.next_run_times.map(at => h('div', null, exactly(at)))],
      ['While a run goes on', OVERLAPS.find(([name]) => name === s.overlap)[1]],
      ['Runs late by at most', `${number(s.catch_up_s)} s`],
      ['Made', exactly(s.created_at)], ['Changed', exactly(s.updated_at)],
      ['Who changed it', h('a', {href: `#/audit?target=${s.id}`}, 'in the audit')],
    ]),
    may('operator') && h('p', null, h('a', {href: `#/schedules/${id}/change`}, 'Change this schedule')),
    table('What became of its slots, newest first', [
      ['Slot', slot => exactly(slot.scheduled_at)],
      ['Outcome', slot => badge(slot.outcome, OUTCOMES[slot.outcome])],
      ['Why', slot => slot.reason ?? ''],
      ['Slots', slot => number(slot.slots), 'n'],
      ['Run', slot => slot.run_id === null ? '' : h('a', {href: `#/runs/${slot.run_id}`}, 'its run')],
      ['Decided', slot => when(slot.decided_at)],
    ], s.history, 'No slot has come yet.'));
}

function jsonOf(given) {
  if (given === '') return null;
  try {
    return JSON.parse(given);
  } catch {
    throw new Error('It is no JSON.');
  }
}

const jsonText = given => given === null || given === undefined ? '' : JSON.stringify(given, null, 1);

class ScheduleForm extends Form {
  // `s`: the schedule that is changed; null: one is made.
  constructor(s) {
    super([
      labelled('name', 'Name', text(s?.name, {maxlength: 200})),
      labelled('cron', 'By the clock', area(2, cronText(s?.cron)), 'One a line: 0 9 * * 1-5 is nine on weekdays.'),
      labelled('time_zone', 'Time zone', text(s?.cron ? s.time_zone : ''), 'Of the clock: Europe/Berlin. Empty: UTC.'),
      labelled('frequency', 'Every', text(s && !s.cron ? s.frequency : ''), '1h to 30d, where it is not by the clock.'),
      labelled('overlap', 'While a run goes on', h('select', null, OVERLAPS.map(([name, what]) =>
        h('option', {value: name, selected: name === (s?.overlap ?? 'skip')}, what)))),
      labelled('catch_up_s', 'Runs late by at most', text(s?.catch_up_s ?? 3600, {inputmode: 'numeric'}), 'Seconds, at most 86400.'),
      labelled('webhook_payload', 'Records', area(4, jsonText(s?.webhook_payload)), 'What each run is given, as JSON: [{"domain": "a.example"}]'),
      labelled('specs_override', 'Settings of blocks', area(2, jsonText(s?.specs_override)), 'As JSON; empty: those of the workflow.'),
    ], FIELD_OF);
  }

  body() {
    this.clear();
    const payload = this.read('webhook_payload', given => ({is: jsonOf(given)}));
    const override = this.read('specs_override', given => ({is: jsonOf(given)}));
    if (payload === null || override === null) return null;
    const late = this.text('catch_up_s');
    const frequency = this.text('frequency');
    return {name: this.text('name'), ...clockOf(this), ...frequency !== '' && {frequency}, overlap: this.text('overlap'),
            catch_up_s: /^\d+$/.test(late) ? Number(late) : late, webhook_payload: payload.is, specs_override: override.is};
  }
}

export async function newSchedule(main, [orgId, workflowId]) {
  const path = `/orgs/${orgId}/workflows/${workflowId}/schedules`;
  return showForm(main, 'New schedule of a workflow', new ScheduleForm(null), {
    button: 'Make it', page: 'schedules', back: `#/schedules?workflow_id=${workflowId}`,
    send: body => ask('POST', path, body), times: body => ask('POST', `/orgs/${orgId}/schedules/preview`, body),
  });
}

export async function changeSchedule(main, [id]) {
  const s = await ask('GET', `/schedules/${id}?rows=true`);  // what it gives its runs, which the audit keeps
  const form = new ScheduleForm(s);
  return showForm(main, `Change ${s.name}`, form, {
    button: 'Change it', page: 'schedules', back: `#/schedules/${id}`,
    send: changeSender(form, `/orgs/${s.org_id}/workflows/${s.workflow_id}/schedules/${id}/update`, id),
    times: body => ask('POST', `/orgs/${s.org_id}/schedules/preview`, body),
  });
}
