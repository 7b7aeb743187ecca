// The names of organisations and monitors beside their ids. Each is asked for once while the console is open.

import {ask} from './api.js';
import {h, replace} from './dom.js';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KINDS = {organisation: ['/orgs', '#/organisations'], monitor: ['/monitors', '#/monitors']};
const known = new Map();  // path -> promise of a name, null where there is none

function nameAt(path) {
  if (!known.has(path)) known.set(path, ask('GET', path).then(found => found.name, () => null));
  return known.get(path);
}

// A link to an organisation or a monitor that shows its name as soon as that is known.
export function named(kind, id) {
  if (!id) return '–';
  const [path, page] = KINDS[kind];
  const shown = h('a', {href: `${page}/${id}`, title: id}, id.slice(-12));
  nameAt(`${path}/${id}`).then(name => { if (name !== null) replace(shown, name); });
  return shown;
}

// The id that a text means: an id, or the one thing whose name has it. Throws a sentence otherwise.
export async function idOf(kind, text) {
  if (text === '' || ID.test(text)) return text;
  const found = (await ask('GET', `${KINDS[kind][0]}?limit=2&q=${encodeURIComponent(text)}`)).items;
  const exact = found.filter(item => item.name === text);
  if (exact.length === 1) return exact[0].id;
  if (found.length === 1) return found[0].id;
  throw new Error(`${found.length === 0 ? 'No' : 'More than one'} ${kind} has "${text}" in its name.`);
}
