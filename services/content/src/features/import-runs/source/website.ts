import { limits } from '@bindery/contracts';
import { type GuardedFetch, isFetchFailed } from '@bindery/guarded-fetch';
import type { HtmlPage, HtmlReader } from '@bindery/html-reader';
import type { ImportItem, SettledItem } from '../events.ts';
import { bytesOf, charactersOf, ImportFailed, type WorkContext } from '../work-context.ts';
import { tooLarge } from './page-limits.ts';
import { fetchRobots, type RobotRules } from './robots.ts';
import { canonicalUrl, isInScope, keyOfUrl, maybePage, type Scope, scopeOf } from './scope.ts';
import type { Staging } from './staging.ts';

export interface WebsiteDeps {
  readonly fetch: GuardedFetch;
  readonly reader: HtmlReader;
  readonly staging: Staging;
}

/** Pages read at a time: a website is somebody's, and need not notice. */
const lanes = 2;
const timeoutMs = 20_000;
const html = /^(?:text\/html|application\/xhtml\+xml|)$/;

type Outcome = Omit<SettledItem, 'id' | 'bytes' | 'characters'> & {
  readonly bytes?: number;
  readonly characters?: number;
};

const collect = async (source: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
};

/** Reads a website from its first page along its links, and stages what it reads. Goes on where it was left. */
export const crawlWebsite = async (deps: WebsiteDeps, work: WorkContext, start: string): Promise<void> => {
  const { fetch, reader, staging } = deps;
  const { signal } = work;
  const first = canonicalUrl(start);
  if (first === undefined) throw new ImportFailed('invalid_url', 'The address is not one of a website.');
  if (work.state().items.size === 0)
    await work.progress({ found: [{ id: work.newId(), kind: 'page', address: first, depth: 0 }] });

  /** Pages by their addresses, second ones included. */
  const known = new Map<string, string>();
  for (const { id, address } of work.state().items.values()) known.set(keyOfUrl(address), id);
  for (const { id, aliases = [] } of work.state().settled.values())
    for (const alias of aliases) if (!known.has(keyOfUrl(alias))) known.set(keyOfUrl(alias), id);

  const top = [...work.state().items.values()].find(({ depth }) => depth === 0);
  const settledTop = top && work.state().settled.get(top.id);
  let scope: Scope | undefined = settledTop?.aliases?.[0] === undefined ? undefined : scopeOf(settledTop.aliases[0]);
  const robots = new Map<string, Promise<RobotRules>>();
  const rulesOf = (href: string): Promise<RobotRules> => {
    const { origin } = new URL(href);
    const rules = robots.get(origin) ?? fetchRobots(fetch, href, signal);
    robots.set(origin, rules);
    return rules;
  };

  /** Notes where a page leads to. @returns what is new */
  const follow = (page: HtmlPage, depth: number): { readonly found: ImportItem[]; readonly beyond: number } => {
    const found: ImportItem[] = [];
    let beyond = 0;
    for (const link of page.links) {
      const address = canonicalUrl(link);
      if (address === undefined || scope === undefined) continue;
      if (!isInScope(address, scope) || !maybePage(address) || known.has(keyOfUrl(address))) continue;
      if (work.state().items.size + found.length >= limits.importRun.pages || depth >= limits.importRun.depth) {
        beyond += 1;
        continue;
      }
      const id = work.newId();
      known.set(keyOfUrl(address), id);
      found.push({ id, kind: 'page', address, depth: depth + 1 });
    }
    return { found, beyond };
  };

  const readPage = async (
    item: ImportItem,
  ): Promise<{ readonly outcome: Outcome; readonly found?: ImportItem[]; readonly beyond?: number }> => {
    const isTop = item.depth === 0;
    const skipped = (reason: string, more: Partial<Outcome> = {}) => ({
      outcome: { outcome: 'skipped' as const, reason, ...more },
    });
    if (!(await rulesOf(item.address))(item.address)) return skipped('the website asks robots not to read it');
    if (bytesOf(work.state()) >= limits.importRun.totalBytes)
      return skipped(`more than ${limits.importRun.totalBytes} bytes were read already`);
    const answer = await fetch(item.address, {
      maxBytes: limits.importRun.pageBytes,
      timeoutMs,
      signal,
      request: { method: 'GET', headers: { accept: 'text/html, application/xhtml+xml' } },
    });
    const body = answer.body[Symbol.asyncIterator]();
    const leave = () => body.return?.();
    const url = canonicalUrl(answer.url) ?? item.address;
    if (isTop) scope = scopeOf(url);
    if (scope !== undefined && !isInScope(url, scope)) {
      await leave();
      return skipped('it leads outside of what is imported');
    }
    const other = known.get(keyOfUrl(url));
    if (other !== undefined && other !== item.id) {
      await leave();
      return { outcome: { outcome: 'same', aliases: [url] } };
    }
    known.set(keyOfUrl(url), item.id);
    if (url !== item.address && !(await rulesOf(url))(url)) {
      await leave();
      return skipped('the website asks robots not to read it');
    }
    if (!html.test(answer.contentType)) {
      await leave();
      return skipped(`it is ${answer.contentType}, not a page`, { aliases: [url] });
    }
    const bytes = await collect({ [Symbol.asyncIterator]: () => body });
    const size = bytes.length;
    const reading = await reader.read({ bytes, url, trim: work.state().request.enhance }, signal);
    if (!reading.ok) return { outcome: { outcome: 'failed', reason: reading.message, bytes: size } };
    const { page } = reading;
    const canonical = page.canonical === undefined ? undefined : canonicalUrl(page.canonical);
    const aliases = [url];
    if (canonical !== undefined && scope !== undefined && isInScope(canonical, scope)) {
      const original = known.get(keyOfUrl(canonical));
      const next = follow(page, item.depth);
      if (original !== undefined && original !== item.id && !isTop)
        return { outcome: { outcome: 'same', aliases: [url, canonical], bytes: size }, ...next };
      known.set(keyOfUrl(canonical), item.id);
      aliases.push(canonical);
      return { ...(await staged(item, page, aliases, size)), ...next };
    }
    return { ...(await staged(item, page, aliases, size)), ...follow(page, item.depth) };
  };

  const staged = async (item: ImportItem, page: HtmlPage, aliases: readonly string[], bytes: number) => {
    // Whoever names a page means it.
    if (page.noindex && item.depth > 0)
      return { outcome: { outcome: 'skipped' as const, reason: 'it asks not to be kept (noindex)', aliases, bytes } };
    const reason = tooLarge(page.markdown, charactersOf(work.state()));
    if (reason !== undefined) return { outcome: { outcome: 'failed' as const, reason, aliases, bytes } };
    const { title, description, markdown, images, anchors } = page;
    const blob = await staging.put({
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...{ markdown, images, anchors },
    });
    const characters = markdown.length;
    const inline =
      page.inlineImages === 0 ? {} : { reason: `${page.inlineImages} pictures in the page itself were left out` };
    return { outcome: { outcome: 'read' as const, blob, aliases, bytes, characters, ...inline } };
  };

  const inHand = new Set<string>();
  const next = (): ImportItem | undefined => {
    const { items, settled } = work.state();
    for (const item of items.values()) if (!settled.has(item.id) && !inHand.has(item.id)) return item;
    return undefined;
  };
  const settle = async (item: ImportItem): Promise<void> => {
    let outcome: Outcome;
    let more: { readonly found?: ImportItem[]; readonly beyond?: number } = {};
    try {
      ({ outcome, ...more } = await readPage(item));
    } catch (error) {
      if (signal.aborted || !isFetchFailed(error)) throw error;
      outcome = { outcome: 'failed', reason: error.message };
    }
    if (item.depth === 0 && outcome.outcome !== 'read')
      throw new ImportFailed('first_page', `The first page cannot be read: ${outcome.reason ?? 'it is another one'}`);
    const { found = [], beyond = 0 } = more;
    await work.progress({ settled: [{ bytes: 0, characters: 0, ...outcome, id: item.id }], found, beyond });
  };
  /** One page after the other, until there is none; the first page goes alone, since it says what belongs to it. */
  const lane = async (): Promise<void> => {
    for (let item = next(); item !== undefined; item = next()) {
      signal.throwIfAborted();
      inHand.add(item.id);
      await settle(item);
    }
  };
  // A lane that finds nothing ends, and the page of the other one may have led to more.
  while (next() !== undefined) {
    const alone = scope === undefined;
    if (alone) {
      const item = next();
      if (item !== undefined) {
        inHand.add(item.id);
        await settle(item);
      }
    } else await Promise.all(Array.from({ length: lanes }, lane));
  }
};
