// How the value of a field differs from the one before: lists by what came and went, long texts by lines, others by words.

import {h, value} from './dom.js';

const LONG_CHARS = 200;     // from here on a text is shown by its lines
const LINES_MAX = 400;      // of what differs in each of two texts; beyond, the whole is one difference
const LINES_AROUND = 1;     // that are the same and shown beside those that differ

// A number, or a text that is one, as pages have them; else null.
export function numeric(v) {
  if (typeof v === 'string' && /^\s*[+-]?\d{1,15}(\.\d+)?\s*$/.test(v)) return Number(v);
  return typeof v === 'number' ? v : null;
}

// How two texts differ: [same before, what differs of one, what differs of the other, same after]. By words, so that
// "118 employees" and "125 employees" differ in a number.
export function difference(a, b) {
  const words = text => text.match(/\s+|[^\s]+/g) ?? [];
  const [from, to] = [words(a), words(b)];
  const shorter = Math.min(from.length, to.length);
  let before = 0;
  while (before < shorter && from[before] === to[before]) ++before;
  let after = 0;
  while (after < shorter - before && from.at(-1 - after) === to.at(-1 - after)) ++after;
  const middle = list => list.slice(before, list.length - after).join('');
  return [from.slice(0, before).join(''), middle(from), middle(to), from.slice(from.length - after).join('')];
}

// A list that a page gave, as its elements; nothing for another text.
function elements(text) {
  if (!text.startsWith('[')) return null;
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : null;
  } catch {
    return null;
  }
}

// What one list has more than the other, each element as often as it is more.
function more(list, than) {
  const left = [...than];
  return list.filter(one => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function listDiff(from, to) {
  const [gone, come] = [more(from, to), more(to, from)];
  return h('div', {class: 'diff'},
    h('del', null, gone.length === 0 ? 'none removed' : ['removed: ', gone.join(', ')]),
    h('ins', null, come.length === 0 ? 'none added' : ['added: ', come.join(', ')]));
}

// The lines of a text. Most values have their white space folded: there a sentence is a line.
const linesOf = text => text.split(/\n|(?<=[.!?…])\s+/).filter(line => line !== '');

// What two lists of lines have in common, in order, as [kind, line]: 'same', 'del' or 'ins'. By the longest common
// subsequence of what stands between the same beginning and the same end; null where that is too much.
export function lineDiff(a, b) {
  let begin = 0;
  while (begin < Math.min(a.length, b.length) && a[begin] === b[begin]) ++begin;
  let end = 0;
  while (end < Math.min(a.length, b.length) - begin && a.at(-1 - end) === b.at(-1 - end)) ++end;
  const [from, to] = [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
  if (from.length > LINES_MAX || to.length > LINES_MAX) return null;
  // common[i][j]: how many lines from[i..] and to[j..] have in common.
  const common = Array.from({length: from.length + 1}, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; --i) {
    for (let j = to.length - 1; j >= 0; --j) {
      common[i][j] = from[i] === to[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = a.slice(0, begin).map(line => ['same', line]);
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      lines.push(['same', from[i++]]);
      ++j;
    } else if (j === to.length || i < from.length && common[i + 1][j] >= common[i][j + 1]) {
      lines.push(['del', from[i++]]);
    } else {
      lines.push(['ins', to[j++]]);
    }
  }
  return [...lines, ...a.slice(a.length - end).map(line => ['same', line])];
}

const marked = (before, middle, after) => [before, middle && h('mark', null, middle), after];

// A line of each that stand for each other differ by words.
function changedLines(gone, come) {
  if (gone.length !== come.length) return [gone.map(line => h('del', null, line)), come.map(line => h('ins', null, line))];
  return gone.map((line, n) => {
    const [before, was, is, after] = difference(line, come[n]);
    return [h('del', null, marked(before, was, after)), h('ins', null, marked(before, is, after))];
  });
}

// Shows the lines that differ with their neighbours, and how many others are the same.
function showLines(lines) {
  const shown = h('div', {class: 'diff lines'});
  const near = n => lines.slice(Math.max(0, n - LINES_AROUND), n + LINES_AROUND + 1).some(([kind]) => kind !== 'same');
  let [gone, come, passed] = [[], [], 0];
  const settle = () => {
    shown.append(...changedLines(gone, come).flat(Infinity));
    [gone, come] = [[], []];
  };
  const skip = () => {
    if (passed > 0) shown.append(h('div', {class: 'same'}, `… ${passed} ${passed === 1 ? 'line' : 'lines'} the same`));
    passed = 0;
  };
  lines.forEach(([kind, line], n) => {
    if (kind === 'same') {
      settle();
      if (!near(n)) return void ++passed;
      skip();
      shown.append(h('div', {class: 'same'}, line));
    } else {
      skip();
      (kind === 'del' ? gone : come).push(line);
    }
  });
  settle();
  skip();
  return shown;
}

// The lines of two long texts that differ.
export function textDiff(from, to) {
  const lines = lineDiff(from.split('\n'), to.split('\n'));
  if (lines === null) return h('p', {class: 'note'}, 'Almost all of the text is another one.');
  if (lines.every(([kind]) => kind === 'same')) return h('p', {class: 'note'}, 'The text is the same.');
  return showLines(lines);
}

// What was beside what is.
export function diff(event) {
  const {previous_value: from, current_value: to} = event;
  if (typeof from !== 'string' || typeof to !== 'string') {
    return h('div', {class: 'diff'}, h('del', null, value(from)), h('ins', null, value(to)));
  }
  const lists = [elements(from), elements(to)];
  if (lists[0] && lists[1]) return listDiff(...lists);
  if (Math.max(from.length, to.length) > LONG_CHARS || /\n/.test(from + to)) {
    const lines = lineDiff(linesOf(from), linesOf(to));
    if (lines?.some(([kind]) => kind !== 'same')) return showLines(lines);
  }
  const [before, was, is, after] = difference(from, to);
  return h('div', {class: 'diff'}, h('del', null, marked(before, was, after)), h('ins', null, marked(before, is, after)));
}
