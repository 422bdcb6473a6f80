import type { DomainEvent, Projection, ProjectionReader, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { CommentEvent } from '../events.ts';
import { placeOf } from './document.ts';

/** Name of the view, to wait for it. */
export const commentersProjectionName = 'commenters';

/** Somebody who commented or replied. Id: `<place>/<user>`. */
export interface CommenterDocument {
  /** Id of the space or change request. */
  readonly place: string;
  readonly user: string;
  /** How many comments and replies there are. */
  readonly count: number;
  /** When the last one was posted, also if it is deleted meanwhile; ISO time. */
  readonly updatedAt: string;
}

export const commentersCollection: CollectionSpec = {
  name: 'content.commenters',
  version: 1,
  indexes: [{ name: 'by_place', fields: ['place', 'updatedAt'] }],
};

/** Who wrote a comment and its replies, so that deleting them can be counted. Id: the comment's. */
interface ThreadDocument {
  readonly place: string;
  readonly by: string;
  readonly replies: Readonly<Record<string, string>>;
}
const threadsCollection: CollectionSpec = { name: 'content.comment_authors', version: 1, indexes: [] };

type Count = (user: string, by: 1 | -1, at?: string) => Promise<void>;

const counting = (reader: ProjectionReader, place: string) => {
  const written = new Map<string, CommenterDocument>();
  const count: Count = async (user, by, at) => {
    const id = `${place}/${user}`;
    const known = written.get(id) ?? (await reader.get<CommenterDocument>(commentersCollection, id));
    const last = [known?.updatedAt ?? '', at ?? ''].sort().at(-1) ?? '';
    written.set(id, { place, user, count: Math.max(0, (known?.count ?? 0) + by), updatedAt: last });
  };
  return { count, written };
};

/** Applies an event to its thread, counting who comes and goes; null removes the thread. */
const evolve = async (
  thread: ThreadDocument | undefined,
  fact: CommentEvent,
  count: Count,
): Promise<ThreadDocument | null | undefined> => {
  if (fact.type === 'CommentPosted') {
    const { spaceId, changeRequestId, postedBy, postedAt } = fact.data;
    await count(postedBy, 1, postedAt);
    return { place: placeOf(spaceId, changeRequestId), by: postedBy, replies: {} };
  }
  if (thread === undefined) return undefined;
  switch (fact.type) {
    case 'CommentDeleted':
      for (const user of [thread.by, ...Object.values(thread.replies)]) await count(user, -1);
      return null;
    case 'CommentReplyPosted': {
      const { replyId, postedBy, postedAt } = fact.data;
      await count(postedBy, 1, postedAt);
      return { ...thread, replies: { ...thread.replies, [replyId]: postedBy } };
    }
    case 'CommentReplyDeleted': {
      const { [fact.data.replyId]: user, ...replies } = thread.replies;
      if (user !== undefined) await count(user, -1);
      return { ...thread, replies };
    }
    default:
      return undefined;
  }
};

/** `content.commenters`: who takes part in the discussion of a space or change request, however long it is. */
export const commentersProjection: Projection = {
  name: commentersProjectionName,
  mode: 'async',
  aggregates: ['content.comment'],
  handles: ['CommentPosted', 'CommentDeleted', 'CommentReplyPosted', 'CommentReplyDeleted'],
  collections: [commentersCollection, threadsCollection],
  async apply(event: Recorded<DomainEvent>, reader) {
    // The runtime hands over only events of the types in `handles`.
    const fact = event as unknown as CommentEvent;
    const { commentId, spaceId, changeRequestId } = fact.data;
    const thread = await reader.get<ThreadDocument>(threadsCollection, commentId);
    const { count, written } = counting(reader, thread?.place ?? placeOf(spaceId, changeRequestId));
    const after = await evolve(thread, fact, count);
    const write = (collection: CollectionSpec, id: string, document: object | null): ProjectionWrite => ({
      collection,
      write:
        document === null
          ? { kind: 'remove', id, revision: event.position }
          : { kind: 'put', id, revision: event.position, document },
    });
    return [
      ...[...written].map(([id, it]) => write(commentersCollection, id, it.count === 0 ? null : it)),
      ...(after === undefined ? [] : [write(threadsCollection, commentId, after)]),
    ];
  },
};
