// The suppression list, and taking a person out of what lookups have stored. The list says nobody's name.

import {ask, may, query} from './api.js';
import {confirmChange, field} from './dialog.js';
import {h, number, replace, table, when} from './dom.js';
import {filterForm, showList} from './list.js';
import {idOf, named} from './names.js';

const KINDS = ['address', 'domain', 'profile', 'person'];
const LEFT_SHOWN = 100;  // of what is left to its owner

const organisationField = () => field('org_id', 'Of one organisation alone (name or id; empty: of all)');
const whom = () => [field('email', 'An address'), field('profile', 'The URL of a profile'),
                    field('domain', 'A domain: everybody there, or one person with a name'),
                    field('name', 'The name of a person of that domain'), organisationField()];

// What was filled in, with the organisation by its id.
async function filled(values) {
  const given = Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim() !== ''));
  return given.org_id ? {...given, org_id: await idOf('organisation', given.org_id.trim())} : given;
}

function suppressButton(role, title, path, what, reasonRequired, again) {
  return may(role) && h('button', {type: 'button', click: async () => {
    const done = await confirmChange({
      title, button: title, what, reasonRequired, fields: whom(),
      act: async values => ask('POST', path, await filled(values)),
    });
    if (done) again(done);
  }}, title);
}

// Goes on with the cursor until the end, and adds up.
async function eraseAll(body) {
  const counts = ['facts', 'jobs', 'rows', 'findings', 'answers', 'snapshots'];
  const lists = ['monitor_rows', 'monitors', 'workflows', 'schedules'];
  const sum = {...Object.fromEntries(counts.map(name => [name, 0])), ...Object.fromEntries(lists.map(name => [name, []]))};
  for (let cursor;;) {
    const step = await ask('POST', '/erase', cursor ? {...body, cursor} : body);
    for (const name of counts) sum[name] += step[name];
    for (const name of lists) sum[name].push(...step[name]);
    cursor = step.next_cursor;
    if (!cursor) return sum;
  }
}

function eraseButton(isDry, again) {
  const title = isDry ? 'Count what an erasure reaches' : 'Erase a person';
  return may('admin') && h('button', {type: 'button', class: !isDry && 'final', click: async () => {
    const done = await confirmChange({
      title, button: isDry ? 'Count' : 'Erase', danger: !isDry, reasonRequired: !isDry,
      what: isDry ? 'Nothing is changed.'
        : 'Nobody looks the person up from now on, and what lookups have stored of them is taken out of all results. '
          + 'This cannot be undone. Monitors and their rows, workflows and schedules that name the person are listed and left: they are their owner\'s.',
      fields: [field('email', 'The person\'s address', {required: true}), field('profile', 'The URL of the person\'s profile'),
               organisationField()],
      act: async values => eraseAll({...await filled(values), ...isDry && {dry_run: true}}),
    });
    if (done) again(done, isDry);
  }}, title);
}

function erased(sum, isDry) {
  return [
    h('p', {role: 'status'}, `${isDry ? 'An erasure would take out' : 'Taken out'}: ${number(sum.facts)} facts, `
      + `${number(sum.rows)} rows of ${number(sum.jobs)} jobs, ${number(sum.findings)} findings, ${number(sum.answers)} answers of receivers, ${number(sum.snapshots)} snapshots of pages.`),
    sum.monitors.length > 0 && table(`Monitors whose settings name the person: ${number(sum.monitors.length)}`, [
      ['Monitor', id => named('monitor', id)],
    ], sum.monitors.slice(0, LEFT_SHOWN)),
    sum.monitor_rows.length > 0 && table(`Rows of monitors that name the person: ${number(sum.monitor_rows.length)}`, [
      ['Monitor', r => named('monitor', r.monitor_id)],
      ['Row', r => h('a', {href: `#/monitors/${r.monitor_id}/rows/${r.row_id}`}, r.row_id)],
    ], sum.monitor_rows.slice(0, LEFT_SHOWN)),
    sum.workflows.length > 0 && table(`Workflows that name the person: ${number(sum.workflows.length)}`,
      [['Workflow', id => h('a', {href: `#/schedules?workflow_id=${id}`}, id)]], sum.workflows.slice(0, LEFT_SHOWN)),
    sum.schedules.length > 0 && table(`Schedules that name the person: ${number(sum.schedules.length)}`,
      [['Schedule', id => h('a', {href: `#/schedules/${id}`}, id)]], sum.schedules.slice(0, LEFT_SHOWN))];
}

export async function privacy(main, _, filter) {
  const [result, list] = [h('div'), h('div')];
  const show = () => showList(list, {
    caption: 'Whom nobody looks up, newest first', path: '/suppressions', filter, empty: 'Everybody may be looked up.',
    columns: [
      ['Since', s => when(s.created_at)], ['Kind', s => s.kind],
      ['Organisation', s => s.org_id ? named('organisation', s.org_id) : 'all'], ['Why', s => s.reason],
    ],
  });
  // What was done stays until the page is left.
  const tell = (...said) => {
    result.dataset.extended = '';
    replace(result, ...said);
    show().catch(e => result.append(h('p', {class: 'bad', role: 'alert'}, e.message)));
  };
  const say = sentence => tell(h('p', {role: 'status'}, sentence));
  replace(main, h('h2', null, 'Privacy'),
    h('p', {class: 'buttons'},
      suppressButton('operator', 'Let nobody look up', '/suppressions', 'Nobody looks it up from now on.', true,
        done => say(done.added ? `The ${done.kind} is on the list.` : `The ${done.kind} was on the list already.`)),
      suppressButton('admin', 'Take off the list', '/suppressions/remove', 'It may be looked up again.', false,
        done => say(done.removed ? `The ${done.kind} is off the list.` : `No such ${done.kind} was on the list.`)),
      eraseButton(true, (sum, isDry) => tell(...erased(sum, isDry))),
      eraseButton(false, (sum, isDry) => tell(...erased(sum, isDry)))),
    result,
    filterForm([
      {name: 'kind', label: 'Kind', options: [['', 'any'], ...KINDS.map(kind => [kind, kind])]},
      {name: 'org_id', label: 'Organisation (name or id)', kind: 'organisation'},
    ], filter, f => { location.hash = `#/privacy${query(f)}`; }), list);
  await show();
}
