// The names of organisations, monitors, teams and keys beside their ids. Each is asked for once while the console is open.

import {ask} from './api.js';
import {h, replace} from './dom.js';

export const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KINDS = {organisation: ['/orgs', '#/organisations'], monitor: ['/monitors', '#/monitors']};
const known = new Map();  // path -> promise of a name, null where there is none

function nameAt(path) {
  if (!known.has(path)) known.set(path, ask('GET', path).then(found => found.name, () => null));
  return known.get(path);
}

// What has a name in an organisation: id -> name, of its teams, keys and clients.
function partsOf(orgId) {
  const path = `/orgs/${orgId}`;
  if (!known.has(`${path} parts`)) {
    known.set(`${path} parts`, Promise.all([ask('GET', path), ask('GET', `${path}/api-keys`), ask('GET', `${path}/oauth-clients`)])
      .then(([o, keys, clients]) => new Map([...o.teams, ...keys.items, ...clients.items].map(part => [part.id, part.name])),
        () => new Map()));
  }
  return known.get(`${path} parts`);
}

// A team, an API key or a client of an organisation, by its name as soon as that is known, with a link to where it is.
export function partOf(orgId, id) {
  if (!id) return '–';
  const shown = h('a', {href: `#/organisations/${orgId}`, title: id}, id.slice(-12));
  partsOf(orgId).then(names => { if (names.has(id)) replace(shown, names.get(id)); });
  return shown;
}

// The caller of the API: {kind, id}.
export function caller({kind, id}, orgId) {
  return [`${kind} `, ID.test(id ?? '') ? partOf(orgId, id) : id ?? ''];
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
