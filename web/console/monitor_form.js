// Making and changing a monitor: what a check would see is shown before it is made.

import {ask} from './api.js';
import {facts, h, value} from './dom.js';
import {area, changeSender, clockOf, cronText, Form, labelled, showForm, text} from './form.js';
import {lines, structOf, structText} from './monitor_text.js';
import {pickerOf} from './picker.js';

const TIERS = ['low', 'medium', 'high'];
// Which field a rule is about that is refused by its name alone.
const FIELD_OF = {
  invalid_frequency: 'frequency', invalid_schedule: 'cron', invalid_time_zone: 'time_zone', invalid_tier: 'tier', invalid_render: 'probe', invalid_steps: 'probe', invalid_ignore: 'probe', invalid_webhook_url: 'webhook_url', empty_struct: 'struct',
  column_conflict: 'struct', missing_key_value: 'rows', duplicate_key: 'rows', feature_not_enabled: 'tier',
};

function jsonOf(text, example) {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`It is JSON: ${example}.`);
  }
}

const rulesOf = text => jsonOf(text, '{"price": {"only_if": {"below": 100}}}');
const probeOf = text => jsonOf(text, '{"render": "auto", "ignore": ["dates", {"selector": ".ad"}]}');
const shownJson = object => object && Object.keys(object).length > 0 ? JSON.stringify(object, null, 1) : '';

class MonitorForm extends Form {
  // `m`: the monitor that is changed; null: one is made.
  constructor(m) {
    const tiers = m === null || TIERS.includes(m.tier) ? TIERS : [m.tier, ...TIERS];
    const made = m === null;
    super([
      labelled('name', 'Name', text(m?.name, {maxlength: 200})),
      made && labelled('key', 'Column of the rows', text('url'), 'What names a row: url, domain, or another name.'),
      made && labelled('rows', 'Rows', area(4), 'One a line.'),
      labelled('struct', 'Watched fields', area(5, m && structText(m.watched)),
        'One a line: price = css:.price | number; a name with = or a text of several lines in quotes'),
      labelled('frequency', 'Every', text(m?.schedule ? '' : m?.frequency ?? '1d'), '1h to 30d. Empty where it is by the clock.'),
      labelled('cron', 'By the clock', area(2, cronText(m?.schedule?.cron)), 'Instead of Every, one a line: 0 9 * * 1-5 is nine on weekdays.'),
      labelled('time_zone', 'Time zone', text(m?.schedule?.time_zone ?? ''), 'Of the clock: Europe/Berlin. Empty: UTC.'),
      labelled('spread_s', 'Spread', text(m?.schedule?.spread_s || '', {inputmode: 'numeric'}),
        'Checks come up to so many seconds later than the clock says, at most 3600.'),
      labelled('tier', 'Tier', h('select', null, tiers.map(t => h('option', {value: t, selected: t === (m?.tier ?? 'low')}, t)))),
      labelled('webhook_url', 'Webhook', text(m?.webhook_url, {inputmode: 'url'}), 'Empty: nothing is sent.'),
      labelled('rules', 'Rules', area(3, shownJson(m?.rules)),
        'Which changes are told, as JSON; empty: all.'),
      labelled('probe', 'How pages are read', area(3, shownJson(m?.probe)),
        'As JSON: {"render": "auto", "ignore": ["dates", {"selector": ".ad"}]}; empty: as its tier says.'),
    ].filter(Boolean), FIELD_OF);
    this.made = made;
    this.probeBefore = JSON.stringify(m?.probe ?? {});
  }

  // Null where it is not by the clock.
  schedule() {
    const schedule = clockOf(this);
    const spread = this.text('spread_s');
    return schedule && {...schedule, spread_s: /^\d+$/.test(spread) ? Number(spread) : spread || 0};
  }

  // Given where it is not as it was: what is given takes its place and forgets kept sessions.
  probe(given) {
    return JSON.stringify(given) === this.probeBefore ? {} : {probe: given};
  }

  // The body of the request; null where a field cannot be read.
  body() {
    this.clear();
    const struct = this.read('struct', structOf);
    const rules = this.read('rules', rulesOf);
    const probe = this.read('probe', probeOf);
    if (struct === null || rules === null || probe === null) return null;
    const url = this.text('webhook_url');
    const schedule = this.schedule();
    const body = {name: this.text('name'), struct, ...schedule ? {schedule} : {frequency: this.text('frequency')},
                  tier: this.text('tier'), rules, ...this.probe(probe), webhook_url: url === '' ? null : url};
    if (!this.made) return body;
    const key = this.text('key');
    return {...body, key_columns: [key], rows: lines(this.text('rows')).map(line => ({[key]: line}))};
  }
}

function previewOf(seen) {
  return [seen.warnings.map(warning => h('p', {class: 'bad'}, warning)),
    seen.rows.map(row => h('section', null,
      h('h4', null, Object.values(row.subject).join(' · ')),
      row.error && h('p', {class: 'bad'}, row.error),
      facts([...Object.entries(row.observed).map(([name, now]) => [name, [value(now.value), h('div', {class: 'note'}, now.evidence ?? '')]]),
        ...Object.entries(row.unread).map(([name, why]) => [name, h('span', {class: 'bad'}, why)])])))];
}

// A field is made of what one picks; before there is any, the page's title stands for one.
const picking = form => ({
  order: body => ({...body, struct: {title: 'meta:title', ...body.struct}, screenshot: true}),
  show: answer => pickerOf(answer, form.field('struct').input),
});

export async function newMonitor(main, [orgId]) {
  const o = await ask('GET', `/orgs/${orgId}`);
  const path = `/orgs/${orgId}/monitors`;
  const form = new MonitorForm(null);
  return showForm(main, `New monitor of ${o.name}`, form, {
    button: 'Make it', page: 'monitors', previewOf, pick: picking(form), back: `#/organisations/${orgId}`,
    preview: body => ask('POST', `${path}/preview`, body), send: body => ask('POST', path, body),
    times: body => ask('POST', `/orgs/${orgId}/schedules/preview`, body),
  });
}

export async function changeMonitor(main, [id]) {
  const m = await ask('GET', `/monitors/${id}`);
  const rows = await ask('GET', `/monitors/${id}/rows?limit=5`);
  const path = `/orgs/${m.org_id}/monitors`;
  // A preview takes the body of a creation: the monitor's first rows, as they are.
  const creation = body => ({...body, key_columns: m.key_columns,
                             rows: rows.rows.map(row => ({...row.context, ...row.subject}))});
  const form = new MonitorForm(m);
  return showForm(main, `Change ${m.name}`, form, {
    button: 'Change it', page: 'monitors', previewOf, pick: picking(form), back: `#/monitors/${id}`,
    preview: rows.rows.length > 0 && (body => ask('POST', `${path}/preview`, creation(body))),
    send: changeSender(form, `${path}/${id}/update`, id),
    times: body => ask('POST', `/orgs/${m.org_id}/schedules/preview`, body),
  });
}
