import type { SearchSection, SectionHit } from '../port.ts';
import { isAscii } from './fold.ts';
import type { Term } from './query.ts';
import { endingsOf, isPlain, pairsOf, runsOf } from './tokens.ts';

/** Most characters of an excerpt. */
export const EXCERPT = 200;
/** Text before the match, so that it is read in context. */
const LEAD = 60;
const MAX_SECTIONS = 5;
/** Characters of one page that are looked at; matches further down show no section. */
const MAX_LOOKED_AT = 100_000;

/** The sections of a page that hold words of the query, best first. */
export const matchingSections = (sections: readonly SearchSection[], terms: readonly Term[]): readonly SectionHit[] => {
  let budget = MAX_LOOKED_AT;
  const hits: (SectionHit & { readonly inTitle: number })[] = [];
  for (const section of sections) {
    if (budget <= 0) break;
    const text = section.text.slice(0, budget);
    budget -= text.length + section.title.length;
    const inTitle = find(section.title, terms);
    const inText = find(text, terms);
    const found = new Set([...inTitle.found, ...inText.found]);
    if (found.size === 0) continue;
    hits.push({
      id: section.id,
      title: section.title,
      level: section.level,
      score: found.size / terms.length,
      body: excerpt(section.text, inText.first),
      inTitle: inTitle.found.size,
    });
  }
  return hits
    .toSorted((left, right) => right.score - left.score || right.inTitle - left.inTitle)
    .slice(0, MAX_SECTIONS)
    .map(({ inTitle: _, ...hit }) => hit);
};

/** At most {@link EXCERPT} characters around a place, cut between words where possible, white space made single. */
export const excerpt = (text: string, around: number): string => {
  const from = Math.max(0, around - LEAD);
  const window = text.slice(from, from + 3 * EXCERPT);
  const clean = (from === 0 ? window : window.replace(/^\S{0,30}\s/u, '')).replace(/\s+/gu, ' ').trim();
  if (clean.length <= EXCERPT) return clean.toWellFormed();
  const cut = clean.slice(0, EXCERPT);
  return cut.replace(/\s\S{0,30}$/u, '').toWellFormed();
};

interface Found {
  /** Positions of the terms that occur. */
  readonly found: ReadonlySet<number>;
  /** Index of the first match in the text, 0 when there is none. */
  readonly first: number;
}

const find = (text: string, terms: readonly Term[]): Found => {
  const starts = isPlain(text) ? plainStarts(text, terms) : tokenStarts(text, terms);
  const found = new Set(starts.flatMap((start, position) => (start === undefined ? [] : [position])));
  return {
    found,
    first:
      Math.min(...starts.filter((start) => start !== undefined), Number.MAX_SAFE_INTEGER) % Number.MAX_SAFE_INTEGER,
  };
};

/** Where each term begins in a text with ASCII words only: most texts, so this one is made to be fast. */
const plainStarts = (text: string, terms: readonly Term[]): readonly (number | undefined)[] => {
  const lower = text.toLowerCase();
  return terms.map(({ tokens, prefix }) => {
    const [token = ''] = tokens;
    if (!prefix || !tokens.every(isAscii)) return undefined;
    if (tokens.length > 1) {
      const match = new RegExp(`(?<![a-z0-9])${tokens.join('[^a-z0-9]+')}`).exec(lower);
      return match?.index;
    }
    for (let at = lower.indexOf(token); at !== -1; at = lower.indexOf(token, at + 1))
      if (beginsWord(text, at)) return at;
    return undefined;
  });
};

/** A word begins after what is no letter or digit, and with a capital inside of an identifier. */
const beginsWord = (text: string, at: number): boolean => {
  const before = text[at - 1] ?? ' ';
  if (!/[A-Za-z0-9]/.test(before)) return true;
  return /[A-Z]/.test(text[at] ?? '') && (/[a-z0-9]/.test(before) || /[a-z]/.test(text[at + 1] ?? ''));
};

const tokenStarts = (text: string, terms: readonly Term[]): readonly (number | undefined)[] => {
  const runs = [...runsOf(text)];
  const tokens = runs.flatMap((run) => (run.kind === 'word' ? [run.text] : pairsOf(run.text)));
  const starts = runs.flatMap((run) =>
    run.kind === 'word'
      ? [run.start]
      : pairsOf(run.text).map((_, index) => run.start + Math.min(index, run.source.length - 1)),
  );
  return terms.map((term) => {
    const at = tokens.findIndex((_, index) => occursAt(tokens, index, term));
    return at === -1 ? startOfPart(runs, term) : starts[at];
  });
};

const occursAt = (tokens: readonly string[], index: number, { tokens: wanted, prefix }: Term): boolean =>
  wanted.every((token, offset) => {
    const there = tokens[index + offset];
    return prefix && offset === wanted.length - 1 ? there?.startsWith(token) === true : there === token;
  });

/** A single word may begin inside of an identifier. */
const startOfPart = (
  runs: Iterable<{ readonly source: string; readonly start: number }>,
  term: Term,
): number | undefined => {
  const [token, ...more] = term.tokens;
  if (token === undefined || more.length > 0) return undefined;
  for (const { source, start } of runs) if (endingsOf(source).some((ending) => ending.startsWith(token))) return start;
  return undefined;
};
