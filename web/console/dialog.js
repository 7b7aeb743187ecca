// Asking before something is changed: what will happen, and why it is done.

import {copyable, h, oneAtATime, replace} from './dom.js';

// A secret that is shown once: what was made, the secret, and a button that copies it.
export function showOnce({title, what, secret}) {
  const dialog = document.getElementById('dialog');
  replace(dialog, h('form', {method: 'dialog'},
    h('h2', {id: 'dialog-title'}, title), h('p', null, what), h('p', null, copyable(secret)),
    h('p', {class: 'buttons'}, h('button', {type: 'submit', class: 'primary'}, 'I have it'))));
  return new Promise(resolve => {
    dialog.addEventListener('close', () => { replace(dialog); resolve(); }, {once: true});
    dialog.showModal();
  });
}

// A field of a dialog: a label and its input.
export function field(name, label, attributes = {}) {
  const id = `dialog-${name}`;
  return {id, label, input: h('input', {id, name, autocomplete: 'off', ...attributes})};
}

// A field of several choices, each a checkbox; FormData has one entry for each that is chosen.
export function choices(name, label, options, chosen = []) {
  const input = h('span', {class: 'choices'}, options.map(option => h('label', null,
    h('input', {type: 'checkbox', name, value: option, checked: chosen.includes(option)}), ` ${option}`)));
  return {id: null, label, input};
}

// Resolves with {reason} (and what `fields` gave), or null when the operator thinks better of it.
// `act(values)` does it; while it is refused the dialog stays and shows why.
// `danger`: what cannot be undone. `asksWhy`: the audit has the reason.
export function confirmChange({title, what, button, asksWhy = true, reasonRequired = false, danger = false, fields = [], act}) {
  const dialog = document.getElementById('dialog');
  return new Promise(resolve => {
    let done = null;
    let acts = false;  // what is under way is not thought better of
    const error = h('p', {class: 'bad', role: 'alert'});
    const reason = h('input', {id: 'dialog-reason', name: 'reason', maxlength: 500,
                               required: reasonRequired, autocomplete: 'off'});
    const submit = h('button', {type: 'submit', class: danger ? 'danger' : 'primary'}, button);
    const back = h('button', {type: 'button', click: () => acts || dialog.close()}, 'Go back');
    const form = h('form', {method: 'dialog', submit: event => {
      event.preventDefault();
      return oneAtATime(submit, doIt);
    }},
      h('h2', {id: 'dialog-title'}, title),
      h('p', null, what),
      fields.map(one => one.id === null ? h('fieldset', null, h('legend', null, one.label), one.input)
        : h('p', null, h('label', {for: one.id}, one.label), one.input)),
      asksWhy && h('p', null,
        h('label', {for: 'dialog-reason'}, reasonRequired ? 'Reason' : 'Reason (optional)'), reason),
      error,
      h('p', {class: 'buttons'}, submit, back));
    const doIt = async () => {
      acts = true;
      back.setAttribute('aria-disabled', 'true');
      const data = new FormData(form);
      const values = Object.fromEntries(data);
      if (values.reason === '') delete values.reason;
      try {
        done = await act(values, data) ?? {};
        if (form.isConnected) dialog.close();
      } catch (e) {
        replace(error, e.message);
      } finally {
        acts = false;
        back.removeAttribute('aria-disabled');
      }
    };
    // A browser lets a page refuse one `cancel` alone, but each press of the key.
    dialog.oncancel = event => { if (acts) event.preventDefault(); };
    dialog.onkeydown = event => { if (acts && event.key === 'Escape') event.preventDefault(); };
    replace(dialog, form);
    // Not before it is told that it is closed: else what shows the next dialog hears of this one's end.
    dialog.addEventListener('close', () => resolve(done), {once: true});
    dialog.showModal();
    (fields[0]?.input ?? (asksWhy ? reason : submit)).focus();
  });
}
