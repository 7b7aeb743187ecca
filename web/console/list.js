// A list that goes on with a cursor.

import {ask, query} from './api.js';
import {h, oneAtATime, replace, table} from './dom.js';
import {idOf} from './names.js';

// Shows `path` with `filter`, and a button for more while there is more. `rowsOf` picks the items.
export async function showList(into, {caption, path, filter = {}, columns, empty,
                                      rowsOf = answer => answer.items}) {
  const items = [];
  const wrong = h('p', {class: 'bad', role: 'alert'});
  const button = h('button', {type: 'button', click: () => oneAtATime(button, async () => {
    into.dataset.extended = '';  // such a list is not renewed by itself
    replace(wrong);
    await more().catch(e => replace(wrong, e.message));
  })}, 'Show more');
  const below = [h('p', null, button), wrong];
  let cursor;
  const more = async () => {
    const answer = await ask('GET', path + query({...filter, cursor}));
    items.push(...rowsOf(answer));
    cursor = answer.next_cursor;
    replace(into, table(caption, columns, items, empty), cursor && below);
  };
  into.tabIndex = -1;  // it has the focus of the button that has gone
  // What the filter asks for is refused below its form, which stays.
  await more().catch(e => {
    if (e.status !== 400 && e.status !== 422) throw e;
    replace(into, h('p', {class: 'bad', role: 'alert'}, e.message));
  });
}

// A form whose fields are the page's filter; `go(filter)` is called when it is sent. A field with a `kind` takes the id
// of such a thing, or its name; `options` are all that there is, `suggestions` some of it.
export function filterForm(fields, filter, go) {
  const error = h('p', {class: 'bad', role: 'alert'});
  const form = h('form', {class: 'filter', role: 'search', submit: async event => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    try {
      for (const {name, kind} of fields) if (kind) values[name] = await idOf(kind, values[name].trim());
      replace(error);
      go(values);
    } catch (e) {
      replace(error, e.message);
    }
  }},
    fields.map(({name, label, options, suggestions}) => {
      const id = `filter-${name}`;
      const input = options
        ? h('select', {id, name}, options.map(([value, text]) =>
            h('option', {value, selected: value === (filter[name] ?? '')}, text)))
        : h('input', {id, name, value: filter[name] ?? '', autocomplete: 'off', list: suggestions && `${id}-known`});
      return h('span', null, h('label', {for: id}, label), input,
        suggestions && h('datalist', {id: `${id}-known`}, suggestions.map(text => h('option', {value: text}))));
    }),
    h('button', {type: 'submit'}, 'Show'), error);
  return form;
}
