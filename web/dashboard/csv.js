// Cells of CSV files that are made here.

// What is not seen before a formula: white space, and marks that are not shown.
const UNSEEN = /^[\t-\r \x85\xa0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]*/;
const BEGINS_FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

// Whether a spreadsheet would take the text for a formula, by the rule of domain/text/csv.cc.
function isFormula(text) {
  const seen = text.replace(UNSEEN, '');
  return /^[\t\r\n]/.test(text) || (BEGINS_FORMULA.test(seen) && !NUMBER.test(seen));
}

// The cell in quotes; before a formula stands an apostrophe.
export function cellText(value) {
  const text = String(value ?? '');
  return `"${isFormula(text) ? "'" : ''}${text.replaceAll('"', '""')}"`;
}
