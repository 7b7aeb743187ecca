// Talking to the admin port: by a token, which lives as long as this tab, or in this browser where the operator chose that; or
// by the cookie of who has signed in at the identity provider, which no script reads.

const KEY = 'vedette-admin-token';
const ANSWER_MS_MAX = 20000;  // of what is only read; a process that is frozen accepts and never answers

export class Refused extends Error {
  // `body`: what the port answered, null where that is no JSON.
  constructor(status, message, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY),
  // `kept`: for other tabs too, and after the browser was closed.
  set(text, kept) {
    token.forget();
    (kept ? localStorage : sessionStorage).setItem(KEY, text);
  },
  forget() {
    Object.assign(me, NOBODY);
    sessionStorage.removeItem(KEY);
    localStorage.removeItem(KEY);
  },
  // Whether another tab has forgotten the token that this one goes by: `event` is one of `storage`.
  goneWith: event => (event.key === KEY || event.key === null) && event.newValue === null && token.get() === null,
};

const ROLES = ['viewer', 'operator', 'admin'];  // each may do what those before it may
const NOBODY = {name: null, role: 'viewer', csrf_token: null};

// Whose the token or the session is, and whether their role is this one or one that may do more.
export const me = {...NOBODY};
export const may = role => ROLES.indexOf(me.role) >= ROLES.indexOf(role);

// What a request shows beside the cookie, which the browser adds where there is one: a change made with it shows that it is of
// this page.
function credential() {
  if (token.get() !== null) return {Authorization: `Bearer ${token.get()}`};
  return me.csrf_token ? {'X-CSRF-Token': me.csrf_token} : {};
}

// Signing in by the identity provider: {provider: its name or null, session: whether this browser has signed in}.
export async function waysIn() {
  const answer = await fetch('/console/sign-in', {signal: AbortSignal.timeout(ANSWER_MS_MAX)}).catch(() => null);
  return answer?.ok ? answer.json() : {provider: null, session: false};
}

const post = path => fetch(path, {method: 'POST', headers: credential()});

export async function goToProvider() {
  const answer = await post('/console/sign-in');
  const body = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, reason(answer.status, body), body);
  location.assign(body.url);
}

export async function signOut() {
  await post('/console/sign-out');
  Object.assign(me, NOBODY);
}

// Learns who this is. A process of a version before roles lets everybody do everything.
export async function learnWho() {
  Object.assign(me, await ask('GET', '/me').catch(e => {
    if (e.status === 404) return {name: '', role: 'admin'};
    throw e;
  }));
}

function reason(status, body) {
  if (Array.isArray(body?.detail)) {
    return body.detail.map(item => `${item.loc?.at(-1)}: ${item.msg}`).join('; ');
  }
  return body?.message ?? body?.detail ?? `status ${status}`;
}

function unreached(e) {
  throw new Refused(0, e.name === 'TimeoutError' ? `the admin port has not answered for ${ANSWER_MS_MAX / 1000} s`
    : 'the admin port cannot be reached');
}

// The answer's JSON; throws Refused. Status 0: the port cannot be reached.
export async function ask(method, path, body) {
  const headers = credential();
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  let text;
  try {
    answer = await fetch(`/admin/v1${path}`, {method, headers, body: body === undefined ? undefined : JSON.stringify(body),
                                              signal: method === 'GET' ? AbortSignal.timeout(ANSWER_MS_MAX) : undefined});
    text = await answer.text();
  } catch (e) {
    unreached(e);
  }
  let json = null;
  try {
    json = text === '' ? null : JSON.parse(text);
  } catch {
    throw new Refused(answer.status, `an answer that is no JSON (status ${answer.status})`);
  }
  if (!answer.ok) throw new Refused(answer.status, reason(answer.status, json), json);
  return json;
}

// What the port answers to a GET as a Blob; throws Refused. `signal` ends it.
async function readFile(path, signal) {
  const answer = await fetch(`/admin/v1${path}`, {headers: credential(), signal}).catch(unreached);
  if (!answer.ok) throw new Refused(answer.status, reason(answer.status, await answer.json().catch(() => null)));
  return answer.blob().catch(unreached);
}

// The text or the screenshot of a snapshot as a Blob; null where there is none.
export async function readSnapshot(id, part) {
  try {
    return await readFile(`/snapshots/${id}/${part}`, AbortSignal.timeout(ANSWER_MS_MAX));
  } catch (e) {
    if (e.status === 404) return null;
    throw e;
  }
}

// Gives the browser what the port answers to a GET, as a file of this name. Throws Refused.
export async function download(path, name) {
  const url = URL.createObjectURL(await readFile(path));
  const link = document.createElement('a');
  Object.assign(link, {href: url, download: name});
  link.click();
  URL.revokeObjectURL(url);
}

export function query(parameters) {
  const given = Object.entries(parameters).filter(([, v]) => v !== '' && v !== null && v !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
