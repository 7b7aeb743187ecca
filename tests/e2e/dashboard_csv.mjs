// Files that the dashboard makes, without a browser: the cases of the server's rule. Run by test_console.py.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

const {cellText} = await import(process.argv[2]);
const cases = JSON.parse(readFileSync(new URL('../unit/domain/text/formulas.json', import.meta.url)));
const quoted = text => `"${text.replaceAll('"', '""')}"`;

for (const text of cases.defused) assert.equal(cellText(text), quoted(`'${text}`));
for (const text of cases.as_they_are) assert.equal(cellText(text), quoted(text));
assert.equal(cellText(null), '""');
assert.equal(cellText(-1), '"-1"');
assert.equal(cellText('say "hi"'), '"say ""hi"""');
