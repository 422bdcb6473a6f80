import { type GuardedFetch, isFetchFailed } from '@bindery/guarded-fetch';

/** What a website asks robots not to read. */
export type RobotRules = (href: string) => boolean;

interface Rule {
  readonly allow: boolean;
  readonly pattern: string;
}

const maxBytes = 512 * 1024;
const timeoutMs = 10_000;
const maxRules = 500;
/** Longer patterns are cut, so that they ask for more. */
const maxPattern = 200;
/** How the import calls itself in these files, without a version. */
const agent = 'bindery';

/**
 * Whether a pattern of `robots.txt` fits a path (RFC 9309): `*` is anything, a final `$` the end. Greedy from the left with
 * one place to go back to, so that its time is at most the product of both lengths whatever stands in the file.
 */
export const fits = (pattern: string, path: string): boolean => {
  const anchored = pattern.endsWith('$');
  const text = anchored ? pattern.slice(0, -1) : `${pattern}*`;
  let [at, from, star, mark] = [0, 0, -1, 0];
  while (from < path.length) {
    if (text[at] === '*') {
      star = at;
      mark = from;
      at += 1;
    } else if (at < text.length && text[at] === path[from]) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      at = star + 1;
      mark += 1;
      from = mark;
    } else return false;
  }
  while (text[at] === '*') at += 1;
  return at === text.length;
};

/** The rules of a file for us: those of the group that names us, else those for everybody. */
export const parseRobots = (text: string): readonly Rule[] => {
  const groups = new Map<string, Rule[]>();
  let agents: string[] = [];
  let listing = false;
  for (const line of text.split(/\r\n?|\n/, 20_000)) {
    const [, field = '', value = ''] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? [];
    const name = field.toLowerCase();
    const content = value.trim();
    if (name === 'user-agent') {
      agents = listing ? [...agents, content.toLowerCase()] : [content.toLowerCase()];
      listing = true;
      for (const one of agents) if (!groups.has(one)) groups.set(one, []);
    } else if (name === 'allow' || name === 'disallow') {
      listing = false;
      if (content === '') continue;
      for (const one of agents) {
        const rules = groups.get(one);
        if (rules !== undefined && rules.length < maxRules)
          rules.push({ allow: name === 'allow', pattern: content.slice(0, maxPattern) });
      }
    }
  }
  return groups.get(agent) ?? groups.get('*') ?? [];
};

/** The longest pattern that fits decides; of two of one length, the one that allows. */
export const isAllowed = (rules: readonly Rule[], href: string): boolean => {
  const { pathname, search } = new URL(href);
  let best: Rule | undefined;
  for (const rule of rules) {
    if (best !== undefined && rule.pattern.length < best.pattern.length) continue;
    if (best !== undefined && rule.pattern.length === best.pattern.length && !rule.allow) continue;
    if (fits(rule.pattern, `${pathname}${search}`)) best = rule;
  }
  return best?.allow ?? true;
};

/**
 * Reads what a website asks of robots. A website without such a file allows everything; one that does not answer for it
 * nothing (RFC 9309).
 * @throws FetchFailed when it cannot be known
 */
export const fetchRobots = async (fetch: GuardedFetch, href: string, signal: AbortSignal): Promise<RobotRules> => {
  try {
    const { body } = await fetch(new URL('/robots.txt', href).href, { maxBytes, timeoutMs, signal });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const rules = parseRobots(Buffer.concat(chunks).toString('utf8'));
    return (address) => isAllowed(rules, address);
  } catch (error) {
    const missing = isFetchFailed(error) && error.status !== undefined && error.status >= 400 && error.status < 500;
    if (missing && !signal.aborted) return () => true;
    throw error;
  }
};
