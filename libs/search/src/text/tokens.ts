import { fold, isAscii } from './fold.ts';

/** A word, or a run of a script that is written without spaces. */
export interface Run {
  readonly kind: 'word' | 'unspaced';
  /** Folded. */
  readonly text: string;
  /** As written. */
  readonly source: string;
  /** Index in the text. */
  readonly start: number;
  /** Whether only joining punctuation (`a.b`, `foo_bar`) is between this and the run before. */
  readonly joined: boolean;
}

/** Longer words (hashes, encoded data) are cut in queries, where the rest finds them as a beginning. */
const MAX_WORD = 64;
/** Parts of one identifier that are found on their own. */
const MAX_PARTS = 8;
/** Characters between runs that do not separate what is searched for as one thing. */
const JOINING = /^[._\-/\\:@#'’+~]{1,3}$/;
const ASCII_WORD = /[A-Za-z0-9]+/g;
const UNSPACED_SCRIPTS = ['Han', 'Hira', 'Kana', 'Hang', 'Bopo', 'Yi', 'Thai', 'Laoo', 'Khmr', 'Mymr'];
const UNSPACED = `[${UNSPACED_SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]`;
const IN_WORDS = '[\\p{L}\\p{N}\\p{M}]';
const RUN = new RegExp(`(?<unspaced>[${UNSPACED}&&${IN_WORDS}]+)|[${IN_WORDS}--${UNSPACED}]+`, 'gv');
const INVISIBLE = /\u00ad|[\u200b-\u200d]|\u2060|\ufeff/g;
const CASE_CHANGE = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/;
const PART = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** The runs of a text in order. */
export function* runsOf(text: string): Generator<Run> {
  let end = 0;
  for (const match of text.matchAll(isAscii(text) ? ASCII_WORD : RUN)) {
    const [source] = match;
    const joined = match.index > 0 && (match.index === end || JOINING.test(text.slice(end, match.index)));
    end = match.index + source.length;
    const kind = match.groups?.unspaced === undefined ? 'word' : 'unspaced';
    const folded = fold(source);
    const cut = kind === 'word' && folded.length > MAX_WORD ? folded.slice(0, MAX_WORD) : folded;
    if (cut.length > 0) yield { kind, text: cut, source, start: match.index, joined };
  }
}

/** Text without invisible characters, which would split words. */
export const visible = (text: string): string => (isAscii(text) ? text : text.replace(INVISIBLE, ''));

/**
 * Pairs of neighbouring characters, and the last one alone: then one character is found as the beginning of a pair, and
 * several are found as neighbouring pairs.
 */
export const pairsOf = (run: string): string[] => {
  const characters = Array.from(run);
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
};

/** Endings of an identifier from each of its parts on: `FooBarBaz` -> `barbaz`, `baz`. */
export const endingsOf = (source: string): string[] => {
  if (source.length > MAX_WORD || !CASE_CHANGE.test(source)) return [];
  const parts = source.split(PART).slice(0, MAX_PARTS);
  let start = 0;
  return parts.slice(0, -1).map((part) => {
    start += part.length;
    return source.slice(start).toLowerCase();
  });
};

/** Letters, digits and marks beyond ASCII. */
const OTHER_LETTERS = new RegExp(`[${IN_WORDS}--\\p{ASCII}]`, 'v');
const NOT_ASCII = /[^\p{ASCII}]+/gu;
const CASE_CHANGES = new RegExp(CASE_CHANGE, 'g');

/**
 * A text as the index takes it: what its tokenizer, which knows ASCII only, splits into the tokens of the text. Parts
 * of identifiers come last, so that they are not between words that follow one another.
 */
export const indexText = (text: string): string => {
  const shown = visible(text);
  if (isPlain(shown)) {
    // The engine splits this by itself, and much faster.
    const plain = shown.replace(NOT_ASCII, ' ');
    const endings = new Set(Array.from(identifiersOf(plain), endingsOf).flat());
    return endings.size === 0 ? plain : `${plain} ${[...endings].join(' ')}`;
  }
  const tokens: string[] = [];
  const endings = new Set<string>();
  for (const run of runsOf(shown)) {
    if (run.kind === 'unspaced') tokens.push(...pairsOf(run.text));
    else {
      tokens.push(run.text);
      for (const ending of endingsOf(run.source)) endings.add(ending);
    }
  }
  return `${tokens.join(' ')} ${[...endings].join(' ')}`;
};

/** Whether all letters and digits of a text are ASCII. Looks only at what is not: the class of all letters is slow to test. */
export const isPlain = (text: string): boolean =>
  isAscii(text) || !(text.match(NOT_ASCII) ?? []).some((part) => OTHER_LETTERS.test(part));

/** The words with a change of case inside. */
function* identifiersOf(text: string): Generator<string> {
  let end = 0;
  for (const { index } of text.matchAll(CASE_CHANGES)) {
    if (index < end) continue;
    let start = index;
    while (start > end && isAlphanumeric(text.charCodeAt(start - 1))) start -= 1;
    end = index + 1;
    while (end < text.length && isAlphanumeric(text.charCodeAt(end))) end += 1;
    yield text.slice(start, end);
  }
}

const isAlphanumeric = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
