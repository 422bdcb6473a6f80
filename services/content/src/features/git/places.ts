import { isDeepStrictEqual } from 'node:util';
import type { GitPlace } from './events.ts';
import type { PlaceIndex } from './page-codec.ts';

/** Where everything of a space stands in its repository, by id. */
export type KnownPlaces = ReadonlyMap<string, GitPlace>;

/** The table of contents stands somewhere, too; no page or file has such an id. */
export const summaryId = '-summary';

/** Paths by id, one map per kind; what has no file is in none. */
export const placesOfKind = (places: KnownPlaces): PlaceIndex => {
  const of = (kind: GitPlace['kind']) =>
    new Map(
      [...places.values()].flatMap((it) => (it.kind === kind && it.path !== '' ? [[it.id, it.path] as const] : [])),
    );
  return { pages: of('page'), files: of('file'), contents: of('content') };
};

/** What has to be recorded to come from one state to another. */
export const placeChanges = (
  before: KnownPlaces,
  after: KnownPlaces,
): { readonly put: readonly GitPlace[]; readonly gone: readonly string[] } => ({
  put: [...after.values()].filter((place) => !isDeepStrictEqual(before.get(place.id), place)),
  gone: [...before.keys()].filter((id) => !after.has(id)),
});
