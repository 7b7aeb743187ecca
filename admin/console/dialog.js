// Asking before something is changed: what will happen, and why it is done.

import {h, replace} from './dom.js';

// Resolves with {reason} (and what `fields` gave), or null when the operator thinks better of it.
// `act(values)` does it; while it is refused the dialog stays and shows why.
export function confirmChange({title, what, button, reasonRequired = false, fields = [], act}) {
  const dialog = document.getElementById('dialog');
  return new Promise(resolve => {
    const error = h('p', {class: 'bad', role: 'alert'});
    const reason = h('input', {id: 'dialog-reason', name: 'reason', maxlength: 500,
                               required: reasonRequired, autocomplete: 'off'});
    const submit = h('button', {type: 'submit', class: 'primary'}, button);
    const form = h('form', {method: 'dialog', submit: async event => {
      event.preventDefault();
      submit.disabled = true;
      const values = Object.fromEntries(new FormData(form));
      if (values.reason === '') delete values.reason;
      try {
        const answer = await act(values);
        resolve(answer ?? {});
        dialog.close();
      } catch (e) {
        replace(error, e.message);
      } finally {
        submit.disabled = false;
      }
    }},
      h('h2', {id: 'dialog-title'}, title),
      h('p', null, what),
      fields.map(field => h('p', null, h('label', {for: field.id}, field.label), field.input)),
      h('p', null,
        h('label', {for: 'dialog-reason'}, reasonRequired ? 'Reason' : 'Reason (optional)'), reason),
      error,
      h('p', {class: 'buttons'}, submit,
        h('button', {type: 'button', click: () => dialog.close()}, 'Go back')));
    replace(dialog, form);
    dialog.addEventListener('close', () => resolve(null), {once: true});
    dialog.showModal();
    (fields[0]?.input ?? reason).focus();
  });
}
