import type { LiveCollection } from '@bindery/event-sourcing';
import type { Collection } from '@bindery/read-store';
import type { LinksDeps } from './deps.ts';
import {
  type LinkDocument,
  type LinkSourceDocument,
  type LinkTargetDocument,
  linkSourcesSpec,
  linksSpec,
  linkTargetsSpec,
} from './read-model/collections.ts';
import { linksProjectionName } from './read-model/projection.ts';

/** The live view of links. */
export interface LinksView {
  readonly links: Pick<Collection<LinkDocument>, 'query'>;
  readonly targets: Pick<Collection<LinkTargetDocument>, 'query' | 'count' | 'getMany'>;
  readonly sources: Pick<Collection<LinkSourceDocument>, 'get' | 'getMany'>;
}

/** How long a list waits for the view to have what was written before it. */
const freshnessMs = 1000;
/** Ids in one look-up (read store port). */
const batch = 1000;

export const openLinks = (live: LiveCollection): LinksView => ({
  links: live<LinkDocument>(linksSpec),
  targets: live<LinkTargetDocument>(linkTargetsSpec),
  sources: live<LinkSourceDocument>(linkSourcesSpec),
});

/** Waits, within bounds, until the view has everything that is in the log now; what it has is good enough otherwise. */
export const caughtUp = async ({ eventStore, runtime }: Pick<LinksDeps, 'eventStore' | 'runtime'>): Promise<void> => {
  await runtime.waitFor(linksProjectionName, await eventStore.head(['content.']), freshnessMs);
};

/** Sources by id, any number of them. */
export const sourcesOf = async (
  { sources }: Pick<LinksView, 'sources'>,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, LinkSourceDocument>> => {
  const found = new Map<string, LinkSourceDocument>();
  const all = [...new Set(ids)];
  for (let start = 0; start < all.length; start += batch)
    for (const [id, { document }] of await sources.getMany(all.slice(start, start + batch))) found.set(id, document);
  return found;
};
