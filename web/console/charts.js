// Lines over the last minutes, drawn by uPlot, which the build takes from the npm registry. Without it (a build
// where the registry could not be reached) there are the figures alone, and a sentence that says so.

import uPlot from './uplot.js';
import {h, number, replace} from './dom.js';

const POINTS_MAX = 1200;  // an hour, one every 3 s
const HEIGHT = 170;
const FIRST_RANGE_S = 60;
const GAP_MS = 30000;

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const clock = s => `${new Date(s * 1000).toISOString().slice(11, 19)} UTC`;
const figure = v => v === null || v === undefined ? '–' : number(Number(v.toPrecision(3)));

export const haveCharts = uPlot !== null;

// `lines`: [label, colour's CSS variable, point => number or null]; `unit` follows a figure.
export class Chart {
  constructor({title, unit, lines}) {
    this.unit = unit;
    this.lines = lines;
    this.data = [[], ...lines.map(() => [])];
    this.box = h('div', {class: 'plot', role: 'img'});
    this.legend = h('figcaption');
    this.title = title;
    this.element = h('figure', {class: 'chart'}, h('h3', null, title), haveCharts && this.box, this.legend);
    this.plot = null;
  }

  // A point is {at, since?}, and what the lines read of it.
  add(point) {
    this.take(point);
    this.show();
  }

  // Adds the point, and draws nothing yet.
  take(point) {
    if (this.data[0].length === 0) {
      // The axis begins a minute ago, and the first rates are those of all the time since the heartbeat before.
      this.push(point.at - FIRST_RANGE_S * 1000, null);
      if (point.since > point.at - FIRST_RANGE_S * 1000 && point.since < point.at) this.push(point.since, point);
    } else if (point.at - this.data[0].at(-1) * 1000 > GAP_MS) {
      this.push(point.at - 1, null);  // nobody looked meanwhile: no line across
    }
    this.push(point.at, point);
  }

  push(at, point) {
    this.data[0].push(at / 1000);
    this.lines.forEach(([, , of], i) => this.data[i + 1].push(point === null ? null : of(point) ?? null));
    if (this.data[0].length > POINTS_MAX) for (const column of this.data) column.shift();
  }

  // Draws what there is, at the width that there is.
  show() {
    const last = this.data.map(column => column.at(-1));
    const texts = this.lines.map(([label], i) => `${label} ${figure(last[i + 1])}${this.unit}`);
    // A line that never left 0 is not worth its place, unless it is the only thing there is. What is drawn is what the
    // legend names.
    const shown = this.lines.map((_, i) => i === 0 || this.data[i + 1].some(v => v > 0));
    replace(this.legend, this.lines.map(([, colour], i) =>
      shown[i] && last[0] !== undefined && h('span', {class: `key ${colour}`}, texts[i])));
    this.box.setAttribute('aria-label', `${this.title}, now: ${texts.join(', ')}`);
    if (!haveCharts || !this.box.isConnected || this.data[0].length === 0) return;
    const width = this.box.clientWidth;
    if (this.plot === null) {
      this.plot = new uPlot(this.options(width, shown), this.data, this.box);
      this.width = width;
      return;
    }
    shown.forEach((show, i) => {
      if (this.plot.series[i + 1].show !== show) this.plot.setSeries(i + 1, {show});
    });
    if (width !== this.width) this.plot.setSize({width: this.width = width, height: HEIGHT});
    this.plot.setData(this.data);
  }

  options(width, shown) {
    const axis = {stroke: css('--soft'), grid: {stroke: css('--line'), width: 1}, ticks: {show: false}};
    return {
      width, height: HEIGHT, tzDate: s => uPlot.tzDate(new Date(s * 1000), 'Etc/UTC'), legend: {show: false}, cursor: {drag: {x: false, y: false}},
      scales: {y: {range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1]}},
      axes: [{...axis, space: 110, values: (_, ticks) => ticks.map(clock)}, {...axis, size: 56, values: (_, ticks) => ticks.map(v => `${figure(v)}${this.unit}`)}],
      series: [{}, ...this.lines.map(([label, colour], i) =>
        ({label, show: shown[i], stroke: css(`--${colour}`), width: 2, points: {show: false}}))],
    };
  }

  close() {
    this.plot?.destroy();
    this.plot = null;
  }
}
