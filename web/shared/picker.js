// Makes a selector of what one picks in the picture of a page: by a click on it, or by the keyboard in a list of its elements.

import {h} from './dom.js';
import {drawn} from './snapshots.js';

const fromBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

// The smallest of the elements at a point of the picture; of equal ones the innermost, which comes last. Null: none is there.
export function elementAt(elements, x, y) {
  const at = elements.filter(e => x >= e.x && x < e.x + e.width && y >= e.y && y < e.y + e.height);
  return at.reduce((best, e) => best === null || e.width * e.height <= best.width * best.height ? e : best, null);
}

// What a field may be called that is found so, and is none of `taken`.
export function nameFor(selector, taken) {
  const words = selector.split(' ').at(-1).match(/[a-z][\w-]*/gi) ?? [];
  const word = words.filter(w => !/^(nth-of-type|data-[\w-]+|itemprop|name|aria-label)$/.test(w)).at(-1) ?? 'field';
  const name = word.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  for (let n = 1; ; ++n) {
    const one = n === 1 ? name : `${name}_${n}`;
    if (!taken.includes(one)) return one;
  }
}

// `screenshot`: of a preview. `pick(element)` is told what is picked.
export async function picker({image, elements}, pick) {
  const picture = await drawn(new Blob([fromBase64(image)], {type: 'image/webp'}), 'Picture of the page');
  const frame = h('div', {class: 'frame', hidden: true});
  const said = h('p', {class: 'note', 'aria-live': 'polite'});
  const show = element => {
    frame.hidden = element === null;
    if (element === null) return;
    const share = (part, whole) => `${100 * part / whole}%`;
    for (const [side, to] of [['left', share(element.x, picture.width)], ['top', share(element.y, picture.height)],
      ['width', share(element.width, picture.width)], ['height', share(element.height, picture.height)]]) {
      frame.style.setProperty(side, to);
    }
  };
  const take = element => {
    show(element);
    said.textContent = `Picked: ${element.selector}`;
    pick(element);
  };
  const at = event => {
    const box = picture.getBoundingClientRect();
    const scale = picture.width / box.width;
    return elementAt(elements, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  const list = h('select', {size: 8, 'aria-label': 'What can be watched on the page', change: () => show(elements[list.value] ?? null),
                            keydown: event => {
                              if (event.key !== 'Enter' || !elements[list.value]) return;
                              event.preventDefault();
                              take(elements[list.value]);
                            }},
    elements.map((e, n) => h('option', {value: n}, `${e.text || 'without text'} (${e.selector})`)));
  const page = h('div', {class: 'stack', mousemove: event => show(at(event)), click: event => {
    const element = at(event);
    if (element === null) return;
    list.value = elements.indexOf(element);
    take(element);
  }}, picture, frame);
  return h('div', {class: 'picker'}, h('p', {class: 'note'}, 'Click on what is to be watched, or choose it from the list.'),
    h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The page'}, page),
    list, h('p', null, h('button', {type: 'button', click: () => elements[list.value] && take(elements[list.value])}, 'Watch it')), said);
}

// Adds a line "name = css:..." to a field of such lines, and has it tried as if it had been typed.
export function addField(lines, element) {
  const names = lines.value.split('\n').map(line => line.split('=')[0].trim());
  const before = lines.value.trimEnd();
  lines.value = `${before}${before === '' ? '' : '\n'}${nameFor(element.selector, names)} = css:${element.selector}`;
  lines.dispatchEvent(new Event('input', {bubbles: true}));
}

// What an answer to a preview with a screenshot shows: the picker, or why there is none.
export async function pickerOf(answer, lines) {
  if (answer.screenshot?.elements.length > 0) return picker(answer.screenshot, element => addField(lines, element));
  const why = answer.rows[0]?.error ?? 'its tier gives no browser';
  const note = h('p', {class: 'note'}, `Nothing can be picked, as the page of the first row was not rendered: ${why}`);
  if (!answer.screenshot) return note;
  return [note, await drawn(new Blob([fromBase64(answer.screenshot.image)], {type: 'image/webp'}), 'Picture of the page')];
}
