// What a page was like before and after a change, or when a check failed: its text by lines, and its pictures beside and over each other.

import {textDiff} from './diff.js';
import {exactly, h, replace} from './dom.js';

// A picture is drawn by the page, which may show no images but its own files.
export async function drawn(blob, label) {
  const image = await createImageBitmap(blob);
  const canvas = h('canvas', {role: 'img', 'aria-label': label, width: image.width, height: image.height});
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas;
}

function copyOf(canvas, label) {
  const copy = h('canvas', {role: 'img', 'aria-label': label, width: canvas.width, height: canvas.height});
  copy.getContext('2d').drawImage(canvas, 0, 0);
  return copy;
}

// The picture after the change under the one before it, which reaches as far as the slider says.
function overEachOther(before, after) {
  const top = h('div', {class: 'top'}, copyOf(before, 'The page before, over it'));
  const slider = h('input', {type: 'range', min: 0, max: 100, value: 50, 'aria-label': 'How much is shown of the page before',
                             input: () => reach(slider.value)});
  const reach = share => top.style.setProperty('clip-path', `inset(0 ${100 - share}% 0 0)`);
  reach(50);
  return h('div', {class: 'over'}, slider, h('div', {class: 'stack'}, copyOf(after, 'The page after'), top));
}

async function pictures(before, after) {
  if (after === null) return null;
  const now = await drawn(after, 'Picture of the page after the change');
  if (before === null) return h('figure', null, now, h('figcaption', null, 'With this change'));
  const then = await drawn(before, 'Picture of the page before the change');
  const beside = h('div', {class: 'beside'}, h('figure', null, then, h('figcaption', null, 'Before')),
    h('figure', null, now, h('figcaption', null, 'After')));
  const over = overEachOther(then, now);
  over.hidden = true;
  const toggle = h('button', {type: 'button', click: () => {
    over.hidden = !over.hidden;
    beside.hidden = !over.hidden;
    toggle.textContent = over.hidden ? 'Lay them over each other' : 'Show them side by side';
  }}, 'Lay them over each other');
  return [h('p', null, toggle), beside, over];
}

async function comparison(event, read) {
  const [before, after] = [event.previous_snapshot_id, event.snapshot_id];
  const [from, to, was, is] = await Promise.all([
    before ? read(before, 'text').then(blob => blob?.text() ?? null) : null, read(after, 'text').then(blob => blob?.text() ?? null),
    before ? read(before, 'screenshot') : null, read(after, 'screenshot')]);
  // A check that failed has a picture alone, for as long as no later one has failed.
  if (to === null && is !== null) return h('figure', null, await drawn(is, 'Picture of the page when the check failed'), h('figcaption', null, 'When the check failed'));
  if (to === null) return h('p', {class: 'empty'}, 'It is not kept any more.');
  return [from === null ? h('pre', {class: 'page-text', tabindex: '0'}, to) : textDiff(from, to), await pictures(was, is)];
}

// What the page was like at a change, read when it is opened; null where nothing was kept. `read(id, part)` promises the
// text or the screenshot of a snapshot as a Blob, or null where there is none.
export function pageOf(event, read) {
  if (!event.snapshot_id) return null;
  const box = h('div');
  let asked = false;
  const details = h('details', {class: 'page', toggle: async () => {
    if (!details.open || asked) return;
    asked = true;
    replace(box, h('p', {class: 'note'}, 'Reading …'));
    try {
      replace(box, await comparison(event, read));
    } catch (e) {
      asked = false;
      replace(box, h('p', {class: 'bad'}, e.message));
    }
  }}, h('summary', null, 'The page, ', exactly(event.created_at)), box);
  return details;
}
