// Talking to the API with the session's cookie, which no script can read. A request that changes something shows the CSRF
// token beside it.

export const ANSWER_MS_MAX = 20000;  // of what is only read

// The word of the cell that the page's link names; a router goes by it before anybody is signed in.
const cell = new URLSearchParams(location.search).get('cell');

export class Refused extends Error {
  // `body`: what was answered, null where that is no JSON.
  constructor(status, message, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// The member who is signed in: {email, organisation, role, team, csrf_token}; null while nobody is. `unread`: why that could not be
// read when it was last asked for, else null.
export const session = {
  now: null,
  unread: null,
  // Whether this role may do what `role` may.
  may: role => ['viewer', 'member', 'owner'].indexOf(session.now?.role) >= ['viewer', 'member', 'owner'].indexOf(role),
};

// What a link and a header call the cell that an answer names (domain/auth/cell.h): the first one, too, whose answers name none.
const wordOf = named => named || '-';

function dashboardOf(named) {
  return `${location.origin}/dashboard${query({cell: wordOf(named)})}${location.hash}`;
}

function reason(status, body) {
  if (Array.isArray(body?.detail)) return body.detail.map(item => `${item.loc?.at(-1)}: ${item.msg}`).join('; ');
  // What a person opens, with the link that brought him here.
  if (status === 421) return `this is at another cell of the service: open ${dashboardOf(body?.cell)}`;
  return body?.message ?? `status ${status}`;
}

// What `work` makes of an answer, or why none came.
async function reached(work) {
  try {
    return await work();
  } catch (e) {
    throw new Refused(0, e.name === 'TimeoutError' ? `no answer for ${ANSWER_MS_MAX / 1000} s` : 'the API cannot be reached');
  }
}

// `signal` ends it: of what is only read, after a time.
function send(method, path, body, signal = method === 'GET' ? AbortSignal.timeout(ANSWER_MS_MAX) : undefined) {
  const headers = {};
  const isFile = body instanceof File;
  if (body !== undefined) headers['Content-Type'] = isFile ? 'text/csv' : 'application/json';
  if (cell) headers['X-Cell'] = cell;
  if (method !== 'GET' && session.now) headers['X-CSRF-Token'] = session.now.csrf_token;
  return reached(() => fetch(path, {method, headers, credentials: 'same-origin', signal,
                                    body: body === undefined || isFile ? body : JSON.stringify(body)}));
}

// The answer's JSON, whatever its status; `next`: where the next page of an array begins.
async function readAnswer(answer) {
  const text = await reached(() => answer.text());
  try {
    return {ok: answer.ok, status: answer.status, json: text === '' ? null : JSON.parse(text), next: answer.headers.get('X-Next-Cursor')};
  } catch {
    throw new Refused(answer.status, `an answer that is no JSON (status ${answer.status})`);
  }
}

// A body that is a File is sent as CSV.
const exchange = async (method, path, body) => readAnswer(await send(method, path, body));

// The page goes, and with it who waits for an answer.
const never = () => new Promise(() => {});

// Goes to the page of the cell that a 421 names; false where this is its page.
function goTo(named) {
  if (typeof named !== 'string' || wordOf(named) === cell) return false;
  location.replace(`${location.pathname}${query({cell: wordOf(named)})}${location.hash}`);
  return true;
}

// The session as the API knows it now, and null where nobody is signed in. Before anybody was, an
// address with a cell, and a link, name theirs, whatever the cookie is of.
async function askForSession() {
  const {ok, status, json} = await exchange('GET', '/dashboard/session');
  if (ok) return json;
  const named = session.now === null && (cell !== null || /^#\/(invitation|reset)\//.test(location.hash));
  if (status === 421 && !named && goTo(json?.cell)) return never();
  if (status === 401 || status === 421) return null;
  throw new Refused(status, reason(status, json), json);
}

export async function readSession() {
  try {
    const now = await askForSession();
    session.unread = null;
    return now;
  } catch (e) {
    session.unread = e;
    throw e;
  }
}

const WHO = ['email', 'organisation', 'role', 'team'];

// Reads the session again, which time, an owner or another tab may have changed. Where it is another one, true, and the page is told
// by `vedette-session`, with the one before.
export async function renewSession() {
  const before = session.now;
  session.now = await readSession();
  if (WHO.every(name => before?.[name] === session.now?.[name])) return false;
  dispatchEvent(new CustomEvent('vedette-session', {detail: before}));
  return true;
}

// Throws what was refused, unless the page goes for it.
async function refuse({status, json}) {
  if (status === 421 && goTo(json?.cell)) return never();
  if ((status === 401 || status === 403) && session.now && await renewSession()) return never();
  throw new Refused(status, reason(status, json), json);
}

async function answerTo(method, path, body) {
  const token = session.now?.csrf_token;
  const answer = await exchange(method, path, body);
  if (answer.ok) return answer;
  try {
    return await refuse(answer);
  } catch (e) {
    // The same member has signed in again in another tab.
    if (answer.json?.error === 'csrf_token_missing' && session.now?.csrf_token !== token) return answerTo(method, path, body);
    throw e;
  }
}

// The answer's JSON; throws Refused. Status 0: the API cannot be reached.
export const ask = async (method, path, body) => (await answerTo(method, path, body)).json;

// A question that nobody has clicked for: whatever has become of the session, the page stays with what stands in its forms.
export async function askAside(method, path, body) {
  const {ok, status, json} = await exchange(method, path, body);
  if (!ok) throw new Refused(status, reason(status, json), json);
  return json;
}

// A page of a list. One that is an array itself has it as `items`, and its next cursor in a header.
export async function askPage(path) {
  const {json, next} = await answerTo('GET', path);
  return Array.isArray(json) ? {items: json, next_cursor: next} : json;
}

// A file as a Blob, however long it takes.
export async function readFile(path) {
  const answer = await send('GET', path, undefined, null);
  return answer.ok ? reached(() => answer.blob()) : refuse(await readAnswer(answer));
}

// The text or the screenshot of a snapshot as a Blob; null where there is none.
export async function readSnapshot(id, part) {
  const answer = await send('GET', `/snapshots/${id}/${part}`);
  if (answer.status === 404) return null;
  return answer.ok ? reached(() => answer.blob()) : refuse(await readAnswer(answer));
}

// A monitor without its rows, however many it has: they come last in the answer, and are not read.
export async function readMonitor(id) {
  const answer = await send('GET', `/monitors/${id}`);
  if (!answer.ok) return refuse(await readAnswer(answer));
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let from = 0; ;) {
    const at = text.indexOf('"rows":[', from);
    if (at >= 0) {
      from = at + 1;
      try {
        const monitor = JSON.parse(`${text.slice(0, at)}"rows":[]}`);
        reader.cancel();
        return monitor;
      } catch {
        continue;  // of its metadata
      }
    }
    const {done, value} = await reached(() => reader.read());
    if (done) return JSON.parse(text);
    text += decoder.decode(value, {stream: true});
  }
}

export function query(parameters) {
  const given = Object.entries(parameters).filter(([, v]) => v !== '' && v !== null && v !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
