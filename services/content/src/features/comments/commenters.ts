import type { LiveCollection, ServiceRuntime } from '@bindery/event-sourcing';
import type { EventStore } from '@bindery/event-store';
import { type CommenterDocument, commentersCollection, commentersProjectionName } from './read-model/commenters.ts';

/** Somebody who commented or replied. */
export type Commenter = Pick<CommenterDocument, 'user' | 'count' | 'updatedAt'>;

/** What commenters are read from. */
export interface CommentersDeps {
  readonly live: LiveCollection;
  readonly runtime: Pick<ServiceRuntime, 'waitFor'>;
  readonly eventStore: Pick<EventStore, 'head'>;
}

/** People that one answer has. */
const maxCommenters = 1000;
/** How long a list waits for the view to have what was written before it, in ms. */
const freshnessMs = 1000;

/**
 * Who took part in the discussion of a change request or space: the 1,000 who did last, the latest first.
 * @param place id of the change request or space
 */
export const commentersOf = async (
  { live, runtime, eventStore }: CommentersDeps,
  place: string,
): Promise<readonly Commenter[]> => {
  await runtime.waitFor(commentersProjectionName, await eventStore.head(['content.comment-']), freshnessMs);
  const found = await live<CommenterDocument>(commentersCollection).query({
    where: { place },
    orderBy: [{ field: 'updatedAt', direction: 'desc' }],
    limit: maxCommenters,
  });
  return found.map(({ document: { user, count, updatedAt } }) => ({ user, count, updatedAt }));
};
