// How the console shows what changed in a text, without a browser. Run by test_console.py.
import assert from 'node:assert/strict';

const {difference, lineDiff, numeric} = await import(process.argv[2]);

const text = lines => lines.map(([kind, line]) => ({same: ' ', del: '-', ins: '+'}[kind] + line)).join('');
const diff = (a, b) => text(lineDiff([...a], [...b]));

assert.equal(diff('abc', 'abc'), ' a b c');
assert.equal(diff('', 'ab'), '+a+b');
assert.equal(diff('ab', ''), '-a-b');
assert.equal(diff('abc', 'axc'), ' a-b+x c');
assert.equal(diff('abcd', 'bcde'), '-a b c d+e', 'what only moved up is the same');
assert.equal(diff('aab', 'ab'), ' a-a b');
// Whatever differs, each side can be read from it again.
for (let n = 0; n < 200; ++n) {
  const word = seed => [...`${(seed * 7919 + n * 104729) % 1000003}`.repeat(2)];
  const [a, b] = [word(n), word(n + 1)];
  const lines = lineDiff(a, b);
  assert.deepEqual(lines.filter(([kind]) => kind !== 'ins').map(([, line]) => line), a);
  assert.deepEqual(lines.filter(([kind]) => kind !== 'del').map(([, line]) => line), b);
}
const many = n => Array.from({length: 401}, (_, i) => `${n} ${i}`);
assert.equal(lineDiff(many(1), many(2)), null, 'too much is one difference');
assert.equal(lineDiff([...many(1), 'a'], [...many(1), 'b']).length, 403, 'not where most is the same');

assert.deepEqual(difference('118 employees', '125 employees'), ['', '118', '125', ' employees']);

// What is drawn as a line: numbers, and texts that are nothing else, as pages have them.
assert.deepEqual([118, '118', ' -1.50 ', '+3'].map(numeric), [118, 118, -1.5, 3]);
assert.deepEqual(['', ' ', '118 employees', '1e9', '0x10', '1.', true, null, [1]].map(numeric), Array(9).fill(null));
