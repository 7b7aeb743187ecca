// Lookups of people: one lead, or a batch of them.

import {ask} from './api.js';
import {badge, h, link, replace, statusBadge, table} from './dom.js';
import {button, field, form} from './parts.js';

const LEADS_MAX = 100;  // of one lookup
const WAIT_S = 20;      // of each question how far it is
const [EMAIL, PERSON] = ['find-email', 'reverse-email'];

// The lines of a CSV text, as objects by the names of the first; quoted cells may have commas, quotes and lines. What cannot be read is
// refused with its line, as where a file is uploaded: another lead than was meant would be looked up and paid for.
export function csvRows(text) {
  const lines = [];
  let line = [];
  let read = 0;
  for (const [cell, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n?|\n|$)/gy)) {
    read += cell.length;
    line.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (line.some(one => one !== '')) lines.push(line);
    line = [];
  }
  if (read < text.length) {
    const number = text.slice(0, read).split(/\r\n?|\n/).length;
    throw new Error(`Line ${number}: text beside a quote. Put the whole cell in quotes, and write each quote in it twice.`);
  }
  const [names = [], ...rows] = lines;
  const twice = names.find((name, n) => name !== '' && names.indexOf(name) !== n);
  if (twice) throw new Error(`The column ${twice} stands twice in the first line.`);
  return rows.map(cells => Object.fromEntries(names.map((name, n) => [name, cells[n] ?? '']).filter(([, cell]) => cell !== '')));
}

// A spreadsheet takes a cell that begins so for a formula.
const cellText = v => `"${String(v ?? '').replace(/^([=+\-@\t\r])/, "'$1").replaceAll('"', '""')}"`;

function csvButton(columns, items) {
  return button('As CSV', async () => {
    const text = [columns.map(([title]) => title), ...items.map(item => columns.map(([, , plain]) => plain(item)))]
      .map(cells => `${cells.map(cellText).join(',')}\r\n`).join('');
    const url = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
    h('a', {href: url, download: 'lookups.csv'}).click();
    URL.revokeObjectURL(url);
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

// Starts the lookup, and shows how it goes until it has ended or another page is shown.
async function lookUp(box, kind, leads) {
  const one = leads.length === 1;
  const {task_id: id} = await ask('POST', `/${kind}${one ? '' : '-bulk'}-async`, one ? {lead: leads[0]} : {leads});
  replace(box, h('p', {role: 'status'}, 'It is being looked up …'));
  let job;
  do {
    job = await ask('GET', `/job-status/${id}?wait_s=${box.isConnected ? WAIT_S : 1}`);
  } while (job.status === 'running' && box.isConnected);
  const results = one ? [job.result] : job.result?.results ?? [];
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
