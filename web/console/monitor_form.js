// Making and changing a monitor: one form, validated by the rules of the public API, whose answer stands beside the
// field that it is about.

import {ask} from './api.js';
import {facts, h, replace, value} from './dom.js';

const TIERS = ['low', 'medium', 'high'];
// Which field a rule is about that is refused by its name alone.
const FIELD_OF = {
  invalid_frequency: 'frequency', invalid_schedule: 'cron', invalid_time_zone: 'time_zone', invalid_tier: 'tier', invalid_webhook_url: 'webhook_url', empty_struct: 'struct',
  column_conflict: 'struct', missing_key_value: 'rows', duplicate_key: 'rows', feature_not_enabled: 'tier',
};

// A field with its label, a hint and the place of what is wrong with it.
function labelled(name, label, input, hint) {
  const wrong = h('span', {class: 'bad', id: `wrong-${name}`});
  fillIn(input, {id: `monitor-${name}`, name, 'aria-describedby': `hint-${name} wrong-${name}`});
  return {name, input, wrong, node: h('p', {class: 'field'}, h('label', {for: `monitor-${name}`}, label), input,
    h('span', {class: 'note', id: `hint-${name}`}, hint ?? ''), wrong)};
}

function fillIn(element, attributes) {
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
}

function area(rows, text) {
  const element = h('textarea', {rows, spellcheck: 'false'});
  element.value = text ?? '';
  return element;
}

// "price = css:.price | number", one field a line; throws a sentence.
function structOf(text) {
  return Object.fromEntries(lines(text).map(line => {
    const at = line.indexOf('=');
    if (at < 1) throw new Error(`"${line}" is no "field = description".`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  }));
}

const lines = text => text.split('\n').map(line => line.trim()).filter(line => line !== '');

function rulesOf(text) {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('Rules are JSON: {"price": {"only_if": {"below": 100}}}.');
  }
}

const cronText = schedule => schedule ? [schedule.cron].flat().join('\n') : '';

// The times of a schedule and what changes of the clocks do to them, as they are being written.
function timesOf(seen) {
  return [h('p', {class: 'note'}, `Next by UTC: ${seen.times.map(at => at.replace('T', ' ').replace(':00Z', '')).join(' · ')}`),
    seen.clock_changes.map(change => h('p', {class: 'note'}, change.effect))];
}

class MonitorForm {
  // `m`: the monitor that is changed; null: one is made.
  constructor(m) {
    const text = (given, more = {}) => h('input', {autocomplete: 'off', value: given ?? '', ...more});
    this.made = m === null;
    const tiers = m === null || TIERS.includes(m.tier) ? TIERS : [m.tier, ...TIERS];
    this.fields = [
      labelled('name', 'Name', text(m?.name, {maxlength: 200})),
      this.made && labelled('key', 'Column of the rows', text('url'), 'What names a row: url, domain, or another name.'),
      this.made && labelled('rows', 'Rows', area(4), 'One a line.'),
      labelled('struct', 'Watched fields', area(5, m && Object.entries(m.watched).map(([k, v]) => `${k} = ${v}`).join('\n')),
        'One a line: price = css:.price | number'),
      labelled('frequency', 'Every', text(m?.schedule ? '' : m?.frequency ?? '1d'), '1h to 30d. Empty where it is by the clock.'),
      labelled('cron', 'By the clock', area(2, cronText(m?.schedule)), 'Instead of Every, one a line: 0 9 * * 1-5 is nine on weekdays.'),
      labelled('time_zone', 'Time zone', text(m?.schedule?.time_zone ?? ''), 'Of the clock: Europe/Berlin. Empty: UTC.'),
      labelled('spread_s', 'Spread', text(m?.schedule?.spread_s || '', {inputmode: 'numeric'}),
        'Checks come up to so many seconds later than the clock says, at most 3600.'),
      labelled('tier', 'Tier', h('select', null, tiers.map(t => h('option', {value: t, selected: t === (m?.tier ?? 'low')}, t)))),
      labelled('webhook_url', 'Webhook', text(m?.webhook_url, {inputmode: 'url'}), 'Empty: nothing is sent.'),
      labelled('rules', 'Rules', area(3, m && Object.keys(m.rules).length > 0 ? JSON.stringify(m.rules, null, 1) : ''),
        'Which changes are told, as JSON; empty: all.'),
    ].filter(Boolean);
    this.error = h('p', {class: 'bad', role: 'alert'});
    this.times = h('div', {'aria-live': 'polite'});
  }

  // Null where it is not by the clock.
  schedule() {
    const cron = lines(this.text('cron'));
    if (cron.length === 0) return null;
    const spread = this.text('spread_s');
    return {cron: cron.length === 1 ? cron[0] : cron, time_zone: this.text('time_zone') || 'UTC',
            spread_s: /^\d+$/.test(spread) ? Number(spread) : spread || 0};
  }

  // Shows the times a moment after each change of what they follow from; `ask` is the preview's request.
  tellTimes(ask) {
    let waits;
    let asked = 0;
    const tell = async () => {
      const schedule = this.schedule();
      const mine = ++asked;
      const shown = schedule === null ? []
        : await ask({cron: schedule.cron, time_zone: schedule.time_zone}).then(timesOf, e => h('p', {class: 'bad'}, e.message));
      if (mine === asked) replace(this.times, shown);
    };
    for (const name of ['cron', 'time_zone']) {
      this.field(name).input.addEventListener('input', () => {
        clearTimeout(waits);
        waits = setTimeout(tell, 300);
      });
    }
  }

  field(name) { return this.fields.find(one => one.name === name); }
  text(name) { return this.field(name)?.input.value.trim(); }

  clear() {
    replace(this.error);
    for (const {input, wrong} of this.fields) {
      input.removeAttribute('aria-invalid');
      replace(wrong);
    }
  }

  // Beside the field, where there is one; else above the buttons. The first that is wrong is gone to.
  wrong(name, sentence) {
    const field = this.field(name);
    if (!field) return this.error.append(`${sentence} `);
    field.input.setAttribute('aria-invalid', 'true');
    field.wrong.append(`${sentence} `);
    if (!this.fields.some(one => one.input === document.activeElement && one.input.hasAttribute('aria-invalid'))) {
      field.input.focus();
    }
  }

  refused(e) {
    const items = Array.isArray(e.body?.detail) ? e.body.detail : [];
    for (const item of items) {
      const name = {key_columns: 'key', schedule: item.loc?.[2] ?? 'cron'}[item.loc?.[1]] ?? item.loc?.[1];
      this.wrong(name, `${item.loc?.slice(2).join('.') ?? ''} ${item.msg}`.trim());
    }
    if (items.length === 0) this.wrong(FIELD_OF[e.body?.error], e.message);
  }

  read(name, make) {
    try {
      return make(this.text(name));
    } catch (e) {
      this.wrong(name, e.message);
      return null;
    }
  }

  // The body of the request; null where a field cannot be read.
  body() {
    this.clear();
    const struct = this.read('struct', structOf);
    const rules = this.read('rules', rulesOf);
    if (struct === null || rules === null) return null;
    const url = this.text('webhook_url');
    const schedule = this.schedule();
    const body = {name: this.text('name'), struct, ...schedule ? {schedule} : {frequency: this.text('frequency')},
                  tier: this.text('tier'), rules, webhook_url: url === '' ? null : url};
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

// Shows the form; `send(body)` does it. The page is not renewed: what is written stays.
function show(main, title, form, {button, preview, send, back, times}) {
  form.tellTimes(times);
  const seen = h('div', {class: 'preview', 'aria-live': 'polite'});
  const submit = h('button', {type: 'submit', class: 'primary'}, button);
  const look = preview && h('button', {type: 'button', click: () => run(look, preview, answer => {
    replace(seen, h('h3', null, 'What a check would see'), previewOf(answer));
  })}, 'Preview');
  const run = async (pressed, act, then) => {
    const body = form.body();
    if (body === null) return;
    pressed.disabled = true;
    try {
      then(await act(body));
    } catch (e) {
      form.refused(e);
    } finally {
      pressed.disabled = false;
    }
  };
  replace(main, h('h2', null, title),
    h('form', {class: 'monitor', novalidate: true, submit: event => {
      event.preventDefault();
      run(submit, send, answer => {
        const page = `#/monitors/${answer.id}`;
        if (!(answer.warnings?.length > 0)) return void (location.hash = page);
        replace(main, h('h2', null, 'Done, with warnings'), answer.warnings.map(warning => h('p', {class: 'bad'}, warning)),
          h('p', null, h('a', {href: page}, 'To the monitor')));
      });
    }},
      form.fields.map(one => one.node), form.times, form.error,
      h('p', {class: 'buttons'}, submit, look, h('a', {href: back}, 'Go back'))),
    seen);
  return () => {};
}

export async function newMonitor(main, [orgId]) {
  const o = await ask('GET', `/orgs/${orgId}`);
  const path = `/orgs/${orgId}/monitors`;
  return show(main, `New monitor of ${o.name}`, new MonitorForm(null), {
    button: 'Make it', back: `#/organisations/${orgId}`,
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
  return show(main, `Change ${m.name}`, new MonitorForm(m), {
    button: 'Change it', back: `#/monitors/${id}`,
    preview: rows.rows.length > 0 && (body => ask('POST', `${path}/preview`, creation(body))),
    send: body => ask('POST', `${path}/${id}/update`, body),
    times: body => ask('POST', `/orgs/${m.org_id}/schedules/preview`, body),
  });
}
