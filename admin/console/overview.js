import {ask} from './api.js';
import {badge, duration, h, number, replace, table, when} from './dom.js';

function tile(title, figure, note, kind) {
  return h('div', {class: `tile ${kind ?? ''}`},
    h('h3', null, title), h('p', {class: 'figure'}, figure), h('p', {class: 'note'}, note));
}

function tiles(o) {
  const lag = o.chunks.oldest_due_age_ms;
  const waiting = o.deliveries.oldest_pending_age_ms;
  return h('div', {class: 'tiles'},
    tile('Checks due', number(o.checks.due), `oldest due ${duration(lag)}`,
      lag > 60000 ? 'bad' : ''),
    tile('Checks running', number(o.checks.leased),
      `${number(o.chunks.leased)} chunks leased, ${number(o.chunks.waiting)} waiting`),
    tile('Monitors late', number(o.monitors.late), `of ${number(o.monitors.live)} live`,
      o.monitors.late > 0 ? 'bad' : ''),
    tile('Deliveries pending', number(o.deliveries.pending), `oldest ${duration(waiting)}`,
      waiting > 3600000 ? 'bad' : ''),
    tile('Deliveries dead', number(o.deliveries.dead), 'to be looked at and replayed',
      o.deliveries.dead > 0 ? 'bad' : ''));
}

function fleet(o) {
  return table('Fleet', [
    ['Process', m => `${m.host} ${m.pid}${m.answering ? ' (this one)' : ''}`],
    ['Roles', m => m.roles.join(', ')],
    ['Version', m => m.version],
    ['Up since', m => when(m.started_at)],
    ['Heartbeat', m => m.heartbeat_age_ms > 15000
      ? badge(`${duration(m.heartbeat_age_ms)} ago`, 'bad') : `${duration(m.heartbeat_age_ms)} ago`],
    ['State', m => m.draining ? badge('draining', 'warn') : ''],
  ], o.members, 'No process has been heard of in the last minutes.');
}

function show(o) {
  return [
    tiles(o),
    fleet(o),
    table('Largest backlog', [
      ['Organisation', b => h('a', {href: `#/organisations/${b.org_id}`}, b.name)],
      ['Checks due', b => number(b.checks), 'n'],
      ['Chunks', b => number(b.chunks), 'n'],
      ['Oldest due', b => duration(b.oldest_due_age_ms), 'n'],
    ], o.backlog, 'No check waits.'),
    table('Latest monitors', [
      ['Monitor', m => h('a', {href: `#/monitors/${m.id}`}, m.name)],
      ['Frequency', m => m.frequency],
      ['Late by', m => duration(m.late_ms), 'n'],
      ['Last tick', m => when(m.last_run_at)],
    ], o.monitors.stalest, 'Every monitor is on time.'),
  ];
}

// Renewed every few seconds while the page is looked at; returns what ends that.
export async function overview(main) {
  const body = h('div');
  replace(main, h('h2', null, 'Overview'), body);
  let ended = false;
  const renew = async () => {
    replace(body, ...show(await ask('GET', '/overview')));
  };
  await renew();
  const timer = setInterval(() => {
    if (ended || document.visibilityState !== 'visible') return;
    renew().catch(e => {
      if (!ended) body.prepend(h('p', {class: 'bad'}, e.message));
    });
  }, 3000);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
