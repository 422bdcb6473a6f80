/** Letters that stay themselves when marks are stripped, but that people type without. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['ı', 'i'],
  ['ø', 'o'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['ł', 'l'],
  ['þ', 'th'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ħ', 'h'],
  ['ŧ', 't'],
  ['ŋ', 'n'],
  ['ĸ', 'k'],
  ['ς', 'σ'],
]);
const SPECIAL = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu');
/** Marks of alphabets: accents, Hebrew points, Arabic vowel signs. Not the vowels of Thai or Indic scripts. */
const MARK_RANGES = [
  '\\u0300-\\u036f',
  '\\u0483-\\u0487',
  '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7',
  '\\u0610-\\u061a\\u064b-\\u065f\\u0670',
  '\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f',
];
const MARKS = new RegExp(`[${MARK_RANGES.join('')}]+`, 'gu');
const ASCII = /^\p{ASCII}*$/u;

/** Whether text needs no more than lower-casing. */
export const isAscii = (text: string): boolean => ASCII.test(text);

/** Lower case without diacritics or width variants: what is compared in a search. */
export const fold = (text: string): string => {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(SPECIAL, (letter) => LETTERS.get(letter) ?? letter);
};
