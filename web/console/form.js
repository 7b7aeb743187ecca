// A form that makes or changes something of a tenant's: validated by the rules of the public API, whose answer stands beside
// the field that it is about. The times of a schedule are shown while it is written.

import {ask} from './api.js';
import {h, replace} from './dom.js';
import {lines} from './monitor_text.js';

// A field with its label, a hint and the place of what is wrong with it.
export function labelled(name, label, input, hint) {
  const wrong = h('span', {class: 'bad', id: `wrong-${name}`});
  fillIn(input, {id: `field-${name}`, name, 'aria-describedby': `hint-${name} wrong-${name}`});
  return {name, input, wrong, node: h('p', {class: 'field'}, h('label', {for: `field-${name}`}, label), input,
    h('span', {class: 'note', id: `hint-${name}`}, hint ?? ''), wrong)};
}

function fillIn(element, attributes) {
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
}

export function area(rows, text) {
  const element = h('textarea', {rows, spellcheck: 'false'});
  element.value = text ?? '';
  return element;
}

export const text = (given, more = {}) => h('input', {autocomplete: 'off', value: given ?? '', ...more});

// An expression or a list of them, one a line.
export const cronText = cron => [cron ?? []].flat().join('\n');

// By the clock as the fields of a form say it; null where none does.
export function clockOf(form) {
  const cron = lines(form.text('cron'));
  return cron.length === 0 ? null : {cron: cron.length === 1 ? cron[0] : cron, time_zone: form.text('time_zone') || 'UTC'};
}

// The times of a schedule and what changes of the clocks do to them, as they are being written.
function timesOf(seen) {
  return [h('p', {class: 'note'}, `Next by UTC: ${seen.times.map(at => at.slice(0, 16).replace('T', ' ')).join(' · ')}`),
    seen.clock_changes.map(change => h('p', {class: 'note'}, change.effect))];
}

export class Form {
  // `fieldOf`: which field a rule is about that is refused by its name alone.
  constructor(fields, fieldOf) {
    this.fields = fields;
    this.fieldOf = fieldOf;
    this.error = h('p', {class: 'bad', role: 'alert'});
    this.times = h('div', {'aria-live': 'polite'});
  }

  // Shows the times a moment after each change of what they follow from; `ask` is the preview's request.
  tellTimes(ask) {
    let waits;
    let asked = 0;
    const tell = async () => {
      const schedule = clockOf(this);
      const mine = ++asked;
      const shown = schedule === null ? []
        : await ask(schedule).then(timesOf, e => h('p', {class: 'bad'}, e.message));
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
    if (items.length === 0) this.wrong(this.fieldOf[e.body?.error], e.message);
  }

  read(name, make) {
    try {
      return make(this.text(name));
    } catch (e) {
      this.wrong(name, e.message);
      return null;
    }
  }
}

// Sends what `form` says by then and does not say yet. What nobody touched stays as it is: a field may not show all of it.
export function changeSender(form, path, id) {
  const before = form.body() ?? {};
  return body => {
    const change = Object.fromEntries(Object.entries(body)
      .filter(([name, now]) => JSON.stringify(now) !== JSON.stringify(before[name])));
    return Object.keys(change).length === 0 ? {id} : ask('POST', path, change);
  };
}

// Shows the form; `send(body)` does it, and then the page of what it answers is gone to. The page is not renewed: what is
// written stays.
export function showForm(main, title, form, {button, page, preview, previewOf, pick, send, back, times}) {
  form.tellTimes(times);
  const seen = h('div', {class: 'preview', 'aria-live': 'polite'});
  const submit = h('button', {type: 'submit', class: 'primary'}, button);
  const look = preview && h('button', {type: 'button', click: () => run(look, preview, answer => {
    replace(seen, h('h3', null, 'What a check would see'), previewOf(answer));
  })}, 'Preview');
  const choose = preview && pick && h('button', {type: 'button', click: () => run(choose, body => preview(pick.order(body)), async answer => {
    replace(seen, h('h3', null, 'Pick on the page'), await pick.show(answer));
  })}, 'Pick on the page');
  const run = async (pressed, act, then) => {
    const body = form.body();
    if (body === null) return;
    pressed.disabled = true;
    try {
      await then(await act(body));
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
        const made = `#/${page}/${answer.id}`;
        if (!(answer.warnings?.length > 0)) return void (location.hash = made);
        replace(main, h('h2', null, 'Done, with warnings'), answer.warnings.map(warning => h('p', {class: 'bad'}, warning)),
          h('p', null, h('a', {href: made}, 'Go on')));
      });
    }},
      form.fields.map(one => one.node), form.times, form.error,
      h('p', {class: 'buttons'}, submit, look, choose, h('a', {href: back}, 'Go back'))),
    seen);
  return () => {};
}
