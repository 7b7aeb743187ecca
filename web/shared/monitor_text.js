// What a monitor watches, and its tags, as text that one types, and back. What would be read as something else stands in
// quotes, as a string of JSON.

// What stands in a field, one a line.
export const lines = text => text.split('\n').map(line => line.trim()).filter(line => line !== '');

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';

// `odd`: what cannot stand there without quotes.
const quoted = (text, odd) => odd.test(text) || text !== text.trim() || text.startsWith('"') ? JSON.stringify(text) : text;

function unquoted(text) {
  if (!new RegExp(`^${QUOTED}$`).test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${text} is no text in quotes.`);
  }
}

export const structText = watched => Object.entries(watched)
  .map(([name, description]) => `${quoted(name, /[=\n\r]/)} = ${quoted(String(description), /[\n\r]/)}`).join('\n');

// "price = css:.price | number", one field a line; throws a sentence.
export function structOf(text) {
  const struct = new Map();
  for (const line of lines(text)) {
    const parts = new RegExp(`^(${QUOTED}|[^=]+?)\\s*=\\s*(.*)$`, 's').exec(line);
    if (parts === null) throw new Error(`"${line}" is no "field = description".`);
    const name = unquoted(parts[1]);
    if (struct.has(name)) throw new Error(`The field "${name}" is there twice.`);
    struct.set(name, unquoted(parts[2]));
  }
  return Object.fromEntries(struct);
}

export const tagsText = tags => tags.map(tag => quoted(tag, /,/)).join(', ');

export const tagsOf = text => (text.match(new RegExp(`\\s*${QUOTED}\\s*(?=,|$)|[^,]+`, 'g')) ?? [])
  .map(tag => unquoted(tag.trim())).filter(tag => tag !== '');
