// A list that goes on with a cursor.

import {ask, query} from './api.js';
import {h, replace, table} from './dom.js';

// Shows `path` with `filter`, and a button for more while there is more. `rowsOf` picks the items.
export async function showList(into, {caption, path, filter = {}, columns, empty,
                                      rowsOf = answer => answer.items}) {
  const items = [];
  const more = async cursor => {
    const answer = await ask('GET', path + query({...filter, cursor}));
    items.push(...rowsOf(answer));
    replace(into, table(caption, columns, items, empty));
    if (answer.next_cursor) {
      into.append(h('p', null, h('button', {type: 'button', click: event => {
        event.target.disabled = true;
        more(answer.next_cursor).catch(e => into.append(h('p', {class: 'bad'}, e.message)));
      }}, 'Show more')));
    }
  };
  await more(undefined);
}

// A form whose fields are the page's filter; `go(filter)` is called when it is sent.
export function filterForm(fields, filter, go) {
  const form = h('form', {class: 'filter', role: 'search', submit: event => {
    event.preventDefault();
    go(Object.fromEntries(new FormData(form)));
  }},
    fields.map(({name, label, options}) => {
      const id = `filter-${name}`;
      const input = options
        ? h('select', {id, name}, options.map(([value, text]) =>
            h('option', {value, selected: value === (filter[name] ?? '')}, text)))
        : h('input', {id, name, value: filter[name] ?? '', autocomplete: 'off'});
      return h('span', null, h('label', {for: id}, label), input);
    }),
    h('button', {type: 'submit'}, 'Show'));
  return form;
}
