// Lookups of people: one lead, or a batch of them.

import {ANSWER_MS_MAX, ask} from './api.js';
import {cellText} from './csv.js';
import {badge, h, link, replace, statusBadge, table} from './dom.js';
import {button, field, form, keep} from './parts.js';

const LEADS_MAX = 100;  // of one lookup
const WAIT_S = ANSWER_MS_MAX / 2000;  // of each question how far it is: what is not answered by then has its time, too
const MISSES_MAX = 10;  // of questions in a row
const AFTER_MISS_MS = 3000;
const [EMAIL, PERSON] = ['find-email', 'reverse-email'];

// What is wrong with the names of columns, in the words that an uploaded file is refused with; nothing where they are sound.
function faultOfNames(names) {
  if (names.length === 1 && /[;\t]/.test(names[0])) {
    return `the header is one column, "${names[0]}": fields are separated by commas, not by semicolons or tabs`;
  }
  const nameless = names.indexOf('');
  if (nameless >= 0) return `column ${nameless + 1} has no name`;
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  return twice && `the column "${twice}" is there twice`;
}

// The lines of a CSV text, as objects by the names of the first; quoted cells may have commas, quotes and lines. What cannot be read is
// refused with its line, as where a file is uploaded: another lead than was meant would be looked up and paid for.
export function csvRows(text) {
  const lines = [];
  let line = [];
  let read = 0;
  const numberAt = at => text.slice(0, at).split(/\r\n?|\n/).length;
  let begin = 0;  // of the line
  for (const [cell, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n?|\n|$)/gy)) {
    read += cell.length;
    line.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (line.some(one => one !== '')) lines.push([line, begin]);
    line = [];
    begin = read;
  }
  if (read < text.length) {
    throw new Error(`Line ${numberAt(read)}: text beside a quote. Put the whole cell in quotes, and write each quote in it twice.`);
  }
  const [[names, first] = [[]], ...rows] = lines;
  const fault = faultOfNames(names);
  if (fault) throw new Error(`Line ${numberAt(first)}: ${fault}.`);
  return rows.map(([cells, from]) => {
    if (cells.length !== names.length) throw new Error(`Line ${numberAt(from)}: ${cells.length} fields where the header has ${names.length}.`);
    return Object.fromEntries(names.map((name, n) => [name, cells[n]]).filter(([, cell]) => cell !== ''));
  });
}

function csvButton(columns, items) {
  return button('As CSV', async () => {
    const text = [columns.map(([title]) => title), ...items.map(item => columns.map(([, , plain]) => plain(item)))]
      .map(cells => `${cells.map(cellText).join(',')}\r\n`).join('');
    keep(new Blob([text], {type: 'text/csv'}), 'lookups.csv');
  });
}

const why = one => one.result?.error ?? one.result?.details?.reason ?? '';
const addressOf = one => one.result?.email?.[0] ?? ['', '', ''];
const kinds = {OK: 'good', NOT_FOUND: 'bad'};
const lead = ['Lead', one => Object.values(one.lead).join(', '), one => Object.values(one.lead).join(', ')];
const plain = (title, of) => [title, of, of];
const COLUMNS = {
  [EMAIL]: [lead,
    plain('Address', one => addressOf(one)[0]),
    ['Status', one => addressOf(one)[1] && badge(addressOf(one)[1], kinds[addressOf(one)[1]] ?? 'warn'), one => addressOf(one)[1]],
    plain('Kind', one => addressOf(one)[2]),
    plain('Why', why)],
  [PERSON]: [lead,
    plain('Name', one => one.result?.name ?? ''),
    plain('Title', one => one.result?.title ?? ''),
    plain('Company', one => one.result?.company ?? ''),
    ['Profiles', one => (one.result?.profiles ?? []).map(url => h('div', null, link(url))), one => (one.result?.profiles ?? []).join(' ')],
    plain('Why', why)],
};

// The job when it has ended, or another page is shown. A question that nobody answered is asked again, as what is found was paid
// for; `missed` is called with why.
async function endOf(id, box, missed) {
  for (let misses = 0; ;) {
    try {
      const job = await ask('GET', `/job-status/${id}?wait_s=${box.isConnected ? WAIT_S : 1}`);
      if (job.status !== 'running' || !box.isConnected) return job;
      misses = 0;
    } catch (e) {
      const passes = e.status === 0 || e.status === 429 || e.status >= 500;
      if (!passes || ++misses === MISSES_MAX || !box.isConnected) throw e;
      missed(e.message);
      await new Promise(go => setTimeout(go, AFTER_MISS_MS));
    }
  }
}

// Starts the lookup, and shows how it goes.
async function lookUp(box, kind, leads) {
  replace(box);  // of the lookup before
  const one = leads.length === 1;
  const {task_id: id} = await ask('POST', `/${kind}${one ? '' : '-bulk'}-async`, one ? {lead: leads[0]} : {leads});
  await follow(box, kind, leads, id);
}

// Shows how the lookup goes until it has ended or another page is shown.
async function follow(box, kind, leads, id) {
  const goes = h('p', {role: 'status'}, 'It is being looked up …');
  replace(box, goes);
  let job;
  try {
    job = await endOf(id, box, why => replace(goes, `It is being looked up … (${why}; asked again)`));
  } catch (e) {
    const again = button('Ask again', () => follow(box, kind, leads, id));
    return replace(box, h('p', {class: 'bad', role: 'alert'}, `How far it is could not be read: ${e.message}`), h('p', null, again));
  }
  const results = leads.length === 1 ? [job.result] : job.result?.results ?? [];
  const found = leads.map((lead, n) => ({lead, result: results[n] ?? null}));
  replace(box, h('p', {role: 'status'}, statusBadge(job.status), job.error && ` ${job.error.message ?? ''}`),
    table('Found', COLUMNS[kind], found), h('p', null, csvButton(COLUMNS[kind], found)));
}

export async function lookups() {
  const box = h('div');
  const kind = h('select', null, h('option', {value: EMAIL}, 'the address of a person'), h('option', {value: PERSON}, 'the person behind an address'));
  const names = ['name', 'company', 'email'];
  const inputs = names.map(() => h('input', {maxlength: 512, autocomplete: 'off'}));
  const batch = h('textarea', {spellcheck: 'false', placeholder: 'name,company,email'});
  const file = h('input', {type: 'file', accept: '.csv,text/csv'});
  file.addEventListener('change', async () => { batch.value = await file.files[0]?.text() ?? ''; });
  const leadsOf = () => {
    const single = Object.fromEntries(names.map((name, n) => [name, inputs[n].value.trim()]).filter(([, v]) => v !== ''));
    if (Object.keys(single).length > 0 && batch.value.trim() !== '') throw new Error('Leads are given twice: one, and as lines. Take one of them away.');
    const leads = batch.value.trim() !== '' ? csvRows(batch.value.replace(/^\uFEFF/, '')) : Object.keys(single).length > 0 ? [single] : [];
    if (leads.length === 0) throw new Error('Give a lead, or lines of CSV below their names.');
    if (leads.length > LEADS_MAX) throw new Error(`There are ${leads.length} leads; one lookup takes ${LEADS_MAX}.`);
    return leads;
  };
  return h('div', null, h('h2', null, 'Lookups'),
    form([field('Look for', kind),
      h('fieldset', null, h('legend', null, 'One lead'), field('Name', inputs[0]), field('Company', inputs[1], 'Its name or domain'), field('Address', inputs[2])),
      h('fieldset', null, h('legend', null, 'Or a batch'), field('CSV file', file), field('Lines', batch, 'The first names the columns; at most 100 leads'))],
    'Look up', () => lookUp(box, kind.value, leadsOf())),
    box);
}
