import { pairsOf, runsOf, visible } from './tokens.ts';

/** Longer queries are cut (reference: Limits). */
export const MAX_QUERY = 512;
/** Words of a query that count. */
const MAX_TERMS = 16;
const MAX_TOKENS = 64;

/** One thing that must occur: neighbouring tokens, the last of which may be a beginning. */
export interface Term {
  readonly tokens: readonly string[];
  readonly prefix: boolean;
}

/** The terms of any text; none when it holds no letter and no digit. */
export const termsOf = (query: string): readonly Term[] => {
  const terms: { tokens: string[]; prefix: boolean }[] = [];
  for (const run of runsOf(visible(query.slice(0, MAX_QUERY)))) {
    const before = terms.at(-1);
    if (run.kind === 'unspaced') {
      const pairs = pairsOf(run.text);
      // The last character alone is a token only at the end of a run.
      terms.push(pairs.length > 1 ? { tokens: pairs.slice(0, -1), prefix: false } : { tokens: pairs, prefix: true });
    } else if (run.joined && before?.prefix === true) before.tokens.push(run.text);
    else terms.push({ tokens: [run.text], prefix: true });
  }
  const distinct = new Map(
    terms.map((term) => [JSON.stringify(term), { ...term, tokens: term.tokens.slice(0, MAX_TOKENS) }]),
  );
  return [...distinct.values()].slice(0, MAX_TERMS);
};

/** The terms as an expression of the full-text engine. Tokens are letters and digits only, and quoted all the same. */
export const expressionOf = (terms: readonly Term[]): string =>
  terms.map(({ tokens, prefix }) => `"${tokens.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ');
