// One tick of a monitor: what came of its checks, and which rows failed in it.

import {ask} from './api.js';
import {badge, copyable, exactly, facts, h, number, replace} from './dom.js';
import {showList} from './list.js';
import {outcomesText} from './monitors.js';
import {named} from './names.js';
import {eventRow} from './rows.js';

export async function tickPage(main, [monitorId, tickId]) {
  const m = await ask('GET', `/monitors/${monitorId}`);
  const tick = m.ticks.find(t => String(t.tick_id) === tickId);
  const [failures, changes] = [h('div'), h('div')];
  replace(main,
    h('p', null, h('a', {href: `#/monitors/${monitorId}`}, 'Back to the monitor')),
    h('h2', null, `A tick of ${m.name} `, tick && !tick.finished_at && badge('open', 'warn')),
    facts([
      ['Number', copyable(tickId)],
      ['Monitor', named('monitor', monitorId)],
      ...tick ? [
        ['Due', exactly(tick.due_at)], ['Started', exactly(tick.started_at)], ['Finished', exactly(tick.finished_at)],
        ['By', tick.trigger], ['Rows', number(tick.rows)], ['Outcomes', outcomesText(tick) || 'none yet'],
      ] : [['Outcomes', 'It is not among the last 50 ticks, whose outcomes are shown.']],
    ]),
    h('h3', null, 'Rows that failed'), failures, h('h3', null, 'Changes'), changes);
  const list = (into, type, empty) => showList(into, {
    caption: `Events of type ${type}`, path: `/monitors/${monitorId}/events`, filter: {tick_id: tickId, event_type: type, limit: 50},
    empty, columns: [['What', event => h('ol', {class: 'events'}, eventRow(event, monitorId))]],
  });
  await list(failures, 'error', 'No row failed that has an event.');
  await list(changes, 'change', 'Nothing changed.');
}
