import type { GitSyncBlob, GitSyncState, Revision } from '@bindery/contracts';
import type { LiveCollection } from '@bindery/event-sourcing';
import { presentGitSync } from './present.ts';
import {
  type GitCommitDocument,
  type GitPlacesDocument,
  type GitSyncDocument,
  gitCommitsCollection,
  gitPlacesCollection,
  gitSyncCollection,
} from './read-model.ts';

/** What spaces, revisions and pages show of their repository. It changes without them (reference: mutable git metadata). */
export interface GitMetadata {
  ofSpaces(spaceIds: readonly string[]): Promise<ReadonlyMap<string, GitSyncState>>;
  /** The commit that a revision came from, or went to. */
  ofRevision(spaceId: string, revisionId: string): Promise<Revision['git']>;
  /** Looks up the files in which the parts of a space stood at its last sync; undefined when there was none. */
  blobs(spaceId: string): Promise<((id: string) => GitSyncBlob | undefined) | undefined>;
}

/** Places of so many spaces are kept in memory. */
const maxKept = 20;
/** Ids in one look-up (read store port). */
const batchSize = 1000;

export const createGitMetadata = (live: LiveCollection): GitMetadata => {
  const kept = new Map<string, GitPlacesDocument>();
  const placesOf = async (spaceId: string, operationId: string): Promise<GitPlacesDocument | undefined> => {
    const known = kept.get(spaceId);
    if (known?.operationId === operationId) return known;
    const found = (await live<GitPlacesDocument>(gitPlacesCollection).get(spaceId))?.document;
    if (found === undefined) return undefined;
    kept.delete(spaceId);
    kept.set(spaceId, found);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return found;
  };

  return {
    async ofSpaces(spaceIds) {
      const found = new Map<string, GitSyncState>();
      for (let start = 0; start < spaceIds.length; start += batchSize) {
        const batch = await live<GitSyncDocument>(gitSyncCollection).getMany(spaceIds.slice(start, start + batchSize));
        for (const [id, { document }] of batch) found.set(id, presentGitSync(document));
      }
      return found;
    },
    async ofRevision(spaceId, revisionId) {
      const found = (await live<GitCommitDocument>(gitCommitsCollection).get(revisionId))?.document;
      if (found === undefined || found.spaceId !== spaceId) return undefined;
      const { oid, message, exported, ref, url } = found;
      return { oid, message, createdByGitBook: exported, ref, ...(url === undefined ? {} : { url }) };
    },
    async blobs(spaceId) {
      const synced = (await live<GitSyncDocument>(gitSyncCollection).get(spaceId))?.document.placesOf;
      const places = synced === undefined ? undefined : await placesOf(spaceId, synced);
      if (places === undefined) return undefined;
      return (id) => {
        const place = Object.hasOwn(places.places, id) ? places.places[id] : undefined;
        return place === undefined || place.path === '' ? undefined : { oid: place.oid, path: place.path };
      };
    },
  };
};
