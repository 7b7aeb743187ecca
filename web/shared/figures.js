// Figures over time and beside each other, as drawings with a sentence that says the same.

import {numeric} from './diff.js';
import {h, number, svg, value, when} from './dom.js';

// The values of a field at every change that is known, as a line of steps, which is broken where the value is no number.
export function stepChart(field, events) {
  const width = 600;
  const height = 90;
  const changes = events.filter(e => e.field === field && 'current_value' in e)
    .map(e => [Date.parse(e.created_at), numeric(e.current_value), e.current_value]).sort((a, b) => a[0] - b[0]);
  const points = changes.filter(([, v]) => v !== null);
  if (points.length < 2) return null;
  const first = points[0][0];
  const span = Math.max(1, Date.now() - first);
  const [low, high] = [Math.min(...points.map(p => p[1])), Math.max(...points.map(p => p[1]))];
  const x = at => (at - first) / span * (width - 8) + 4;
  const y = v => high === low ? height / 2 : height - 6 - (v - low) / (high - low) * (height - 12);
  const step = ([at, v], i) => {
    const drawn = i > 0 && changes[i - 1][1] !== null;
    return v === null ? drawn && `H${x(at)}` : drawn ? `H${x(at)}V${y(v)}` : `M${x(at)} ${y(v)}`;
  };
  const [, last, now] = changes.at(-1);
  const path = [...changes.map(step), last !== null && `H${width - 4}`].filter(Boolean).join('');
  return h('figure', {class: 'chart'}, h('h4', null, field),
    svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'steps', role: 'img',
                'aria-label': `${field}: ${points.length} changes, from ${number(low)} to ${number(high)}`},
      svg('path', {d: path})),
    h('figcaption', null, `lowest ${number(low)}, highest ${number(high)}, now `, last === null ? value(now) : number(last), '; since ',
      when(new Date(first).toISOString())));
}

// In units of the drawings.
const [WIDTH, HEIGHT] = [720, 160];
const [SHARE_WIDTH, SHARE_HEIGHT] = [400, 14];

// A bar for each day or the like, `bars`: [[label, figure]]; the first and the last are named. The same figures stand in
// a table for those who cannot see them.
export function barChart(title, unit, bars) {
  const most = Math.max(...bars.map(([, figure]) => figure), 0);
  const step = WIDTH / Math.max(bars.length, 1);
  return h('figure', {class: 'chart'}, h('h3', null, title),
    svg('svg', {class: 'bars', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img',
                'aria-label': `${title}: at most ${number(most)} ${unit}`},
      bars.map(([label, figure], i) => {
        const height = most === 0 ? 0 : figure / most * HEIGHT;
        return svg('rect', {x: i * step + 1, y: HEIGHT - height, width: Math.max(step - 2, 1), height},
          svg('title', null, `${label}: ${number(figure)} ${unit}`));
      })),
    h('div', {class: 'axis note'}, h('span', null, bars[0]?.[0]), bars.length > 1 && h('span', null, bars.at(-1)[0])),
    h('figcaption', {class: 'note'}, `The highest is ${number(most)} ${unit}.`));
}

// How much of a whole something is, as a bar that is as wide as there is room; `share` of 0 to 1.
export function shareBar(said, share) {
  return svg('svg', {class: 'share', viewBox: `0 0 ${SHARE_WIDTH} ${SHARE_HEIGHT}`, preserveAspectRatio: 'none', role: 'img',
                     'aria-label': said},
    svg('rect', {class: 'left', width: SHARE_WIDTH, height: SHARE_HEIGHT}),
    svg('rect', {class: 'done', width: SHARE_WIDTH * share, height: SHARE_HEIGHT}));
}
