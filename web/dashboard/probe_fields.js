// How pages are read, by fields: whether their scripts are run, what is done on them first, and what does not count of their text. The
// fields write the JSON below them, and show what is written there.

import {h, replace} from './dom.js';
import {lines} from './monitor_text.js';
import {button, field} from './parts.js';

const RENDERS = {'': 'as the tier says', never: 'never', auto: 'where a page needs it', always: 'always'};
// What a step does, and what it is told; null: nothing.
const STEPS = {click: ['click', 'selector'], fill: ['type in a field', 'selector'], select: ['choose an option', 'selector'],
               goto: ['go to an address', 'address'], press: ['press a key', 'key'], wait_for: ['wait for', 'selector'],
               scroll_to_end: ['scroll to the end', null]};
const WITH_VALUE = ['fill', 'select'];
const EXAMPLE = '{"render": "auto", "ignore": ["dates", {"selector": ".ad"}]}';

const shown = probe => Object.keys(probe).length > 0 ? JSON.stringify(probe, null, 1) : '';

// What the JSON says; throws a sentence.
function parsed(text) {
  let probe = null;
  try {
    probe = text.trim() === '' ? {} : JSON.parse(text);
  } catch { /* told below */ }
  if (probe === null || typeof probe !== 'object' || Array.isArray(probe)) throw new Error(`How pages are read is JSON: ${EXAMPLE}.`);
  return probe;
}

// The fields of one step, the n-th. `typed`: the values of secrets by their names, which stand nowhere else. `change(step)`: what it
// is now; `again(step)`: the same, where it needs other fields, or is gone (null).
function stepFields(step, n, typed, newName, change, again) {
  const kind = Object.keys(STEPS).find(one => one in step) ?? 'click';
  const target = STEPS[kind][1];
  const secret = step.value?.secret;
  let now = step;
  const put = members => {
    now = Object.fromEntries(Object.entries({...now, ...members}).filter(([, v]) => v !== undefined));
    change(now);
  };
  const input = (label, value, set, more) => h('input', {'aria-label': `Step ${n}: ${label}`, placeholder: label, value: value ?? '',
    autocomplete: 'off', spellcheck: 'false', input: event => set(event.target.value), ...more});
  const become = next => again({[next]: STEPS[next][1] === null ? true : now[kind] === true ? '' : now[kind],
                                ...WITH_VALUE.includes(next) && {value: now.value ?? ''}, ...now.if && {if: now.if}});
  return h('li', {class: 'step'},
    h('select', {'aria-label': `Step ${n}: what is done`, change: event => become(event.target.value)},
      Object.entries(STEPS).map(([name, [text]]) => h('option', {value: name, selected: name === kind}, text))),
    target && input(target, now[kind], text => put({[kind]: text})),
    WITH_VALUE.includes(kind) && [
      secret === undefined ? input('value', now.value, text => put({value: text}))
        : input(`the secret ${secret}`, typed[secret], text => {
          typed[secret] = text;
          put({});
        }, {type: 'password', autocomplete: 'new-password'}),
      h('label', null, h('input', {type: 'checkbox', checked: secret !== undefined, change: event =>
        again({...now, value: event.target.checked ? {secret: newName()} : ''})}), ' a secret')],
    input('only where this is there', now.if, text => put({if: text === '' ? undefined : text})),
    button('Remove', () => again(null)));
}

// The fields of `probe`, as a monitor shows it. `read()` gives what they say, and throws a sentence; `input` tells of each change.
export function probeFields(probe) {
  let now = probe ?? {};
  const typed = {};
  const json = h('textarea', {spellcheck: 'false'});
  const fields = h('div');
  json.value = shown(now);

  function write(changes) {
    now = Object.fromEntries(Object.entries({...now, ...changes}).filter(([, v]) =>
      v !== undefined && v !== '' && !(Array.isArray(v) && v.length === 0)));
    json.value = shown(now);
    json.dispatchEvent(new CustomEvent('input', {detail: 'by the fields'}));
  }

  function writeSteps(steps) {
    const used = steps.map(step => step.value?.secret).filter(name => name !== undefined);
    write({steps, secrets: used.length === 0 ? undefined : Object.fromEntries(used.map(name => [name, now.secrets?.[name] ?? null]))});
  }

  function newName() {
    for (let n = 1; ; ++n) {
      const name = n === 1 ? 'password' : `password_${n}`;
      if (!(name in (now.secrets ?? {}))) return name;
    }
  }

  function stepList() {
    const steps = now.steps ?? [];
    // The keyboard stays where the fields are new.
    const again = (list, at) => {
      writeSteps(list);
      show();
      (fields.querySelectorAll('.step select')[at] ?? fields.querySelector('.steps > button')).focus();
    };
    return h('fieldset', {class: 'steps'}, h('legend', null, 'What is done on a page before it is read'),
      steps.length > 0 && h('ol', null, steps.map((step, at) => stepFields(step, at + 1, typed, newName,
        next => writeSteps((now.steps ?? []).with(at, next)),
        next => again((now.steps ?? []).toSpliced(at, 1, ...next === null ? [] : [next]), at)))),
      button('Add a step', () => again([...now.steps ?? [], {click: ''}], now.steps?.length ?? 0)),
      h('label', null, h('input', {type: 'checkbox', checked: now.session === 'kept',
                                   change: event => write({session: event.target.checked ? 'kept' : undefined})}),
      ' keep the session between checks, as after a login'));
  }

  function ignoreList() {
    const given = now.ignore ?? [];
    const area = name => {
      const input = h('textarea', {spellcheck: 'false'});
      input.value = given.map(part => part[name]).filter(Boolean).join('\n');
      return input;
    };
    const [selectors, patterns] = [area('selector'), area('regex')];
    const boxes = ['numbers', 'dates'].map(name => [name, h('input', {type: 'checkbox', checked: given.includes(name)})]);
    const change = () => write({ignore: [...boxes.filter(([, box]) => box.checked).map(([name]) => name),
      ...lines(patterns.value).map(regex => ({regex})), ...lines(selectors.value).map(selector => ({selector}))]});
    for (const input of [selectors, patterns, ...boxes.map(([, box]) => box)]) input.addEventListener('input', change);
    return h('fieldset', {class: 'choices'}, h('legend', null, 'What does not count of a field that is described by text'),
      boxes.map(([name, box]) => h('label', null, box, ` ${name}`)),
      field('Elements', selectors, 'Their selectors, one a line: .ad, #cookies'),
      field('Patterns', patterns, 'One a line: [0-9]+ people are reading'));
  }

  function show() {
    const render = h('select', {change: () => write({render: render.value})}, Object.entries(RENDERS).map(([value, text]) =>
      h('option', {value, selected: value === (now.render ?? '')}, text)));
    const wait = h('input', {value: now.wait_for ?? '', autocomplete: 'off', input: () => write({wait_for: wait.value.trim()})});
    replace(fields, field('Run the scripts of pages', render, 'In a browser, at most as the tier says; steps need always'),
      field('Read a page when this is there', wait, 'A selector; empty: when nothing is being loaded any more'), stepList(), ignoreList());
  }

  json.addEventListener('input', event => {
    if (event.detail === 'by the fields') return;
    try {
      now = parsed(json.value);
      show();
    } catch { /* it is being typed */ }
  });
  show();
  return {
    element: h('details', {class: 'start', open: Object.keys(now).length > 0}, h('summary', null, 'How pages are read'), fields,
      h('details', null, h('summary', null, 'All of it as JSON'), field('JSON', json, `${EXAMPLE}; empty: as its tier says`))),
    input: json,
    read: () => {
      const probe = parsed(json.value);
      const given = Object.entries(typed).filter(([name, text]) => text !== '' && name in (probe.secrets ?? {}));
      return given.length === 0 ? probe : {...probe, secrets: {...probe.secrets, ...Object.fromEntries(given)}};
    },
  };
}
