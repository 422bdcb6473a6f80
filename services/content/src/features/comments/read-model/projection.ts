import {
  type DomainEvent,
  ignoreUnknown,
  type Projection,
  type ProjectionWrite,
  type Recorded,
} from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { CommentBody, CommentEvent } from '../events.ts';
import { applyReactions } from '../reaction-rules.ts';
import {
  type CommentDocument,
  commentsCollection,
  placeOf,
  type ReplyDocument,
  repliesCollection,
  type StoredBody,
} from './document.ts';

const stored = ({ document, markdown }: CommentBody): StoredBody => ({
  json: JSON.stringify(document),
  ...(markdown === undefined ? {} : { markdown }),
});

const posted = (data: Extract<CommentEvent, { type: 'CommentPosted' }>['data']): CommentDocument => ({
  id: data.commentId,
  spaceId: data.spaceId,
  ...(data.changeRequestId === undefined ? {} : { changeRequestId: data.changeRequestId }),
  place: placeOf(data.spaceId, data.changeRequestId),
  status: 'open',
  ...(data.target.pageId === undefined ? {} : { pageId: data.target.pageId }),
  target: data.target,
  body: stored(data.body),
  postedBy: data.postedBy,
  postedAt: data.postedAt,
  reactions: [],
  replies: [],
});

const reopened = ({ resolvedBy: _b, resolvedAt: _a, ...document }: CommentDocument): CommentDocument => ({
  ...document,
  status: 'open',
});

/** The document of a comment after one more event; null removes it. Never throws: what is recorded is a fact. */
export const evolveComment = (
  document: CommentDocument | undefined,
  fact: CommentEvent,
): CommentDocument | null | undefined => {
  if (fact.type === 'CommentPosted') return posted(fact.data);
  if (document === undefined) return undefined;
  switch (fact.type) {
    case 'CommentEdited':
      return { ...document, body: stored(fact.data.body), editedAt: fact.data.editedAt };
    case 'CommentResolved': {
      const { resolvedBy, resolvedAt } = fact.data;
      return { ...document, status: 'resolved', resolvedBy, resolvedAt };
    }
    case 'CommentReopened':
      return reopened(document);
    case 'CommentReactionsChanged': {
      const { changedBy, changedAt } = fact.data;
      return { ...document, reactions: applyReactions(document.reactions, fact.data, changedBy, changedAt) };
    }
    case 'CommentDeleted':
      return null;
    case 'CommentReplyPosted': {
      const { replyId: id, postedBy: by, postedAt: at } = fact.data;
      return { ...document, replies: [...document.replies, { id, by, at }] };
    }
    case 'CommentReplyDeleted':
      return { ...document, replies: document.replies.filter(({ id }) => id !== fact.data.replyId) };
    case 'CommentReplyEdited':
    case 'CommentReplyReactionsChanged':
      return document;
    default:
      return ignoreUnknown(document, fact);
  }
};

/** The document of a reply after one more event about it; null removes it. */
export const evolveReply = (
  document: ReplyDocument | undefined,
  fact: CommentEvent,
): ReplyDocument | null | undefined => {
  if (fact.type === 'CommentReplyPosted') {
    const { replyId: id, commentId, number, body, postedBy, postedAt } = fact.data;
    return { id, commentId, number, body: stored(body), postedBy, postedAt, reactions: [], version: 0 };
  }
  if (document === undefined) return undefined;
  const next = { ...document, version: document.version + 1 };
  switch (fact.type) {
    case 'CommentReplyEdited':
      return { ...next, body: stored(fact.data.body), editedAt: fact.data.editedAt };
    case 'CommentReplyReactionsChanged': {
      const { changedBy, changedAt } = fact.data;
      return { ...next, reactions: applyReactions(document.reactions, fact.data, changedBy, changedAt) };
    }
    case 'CommentReplyDeleted':
      return null;
    default:
      return document;
  }
};

/**
 * `content.comments` and `content.comment_replies`. Every event of the stream writes the comment's document, also those
 * that change nothing in it, so that its revision is the stream's and can serve as entity tag.
 */
export const commentsProjection: Projection = {
  name: 'comments',
  mode: 'inline',
  aggregates: ['content.comment'],
  handles: [
    'CommentPosted',
    'CommentEdited',
    'CommentResolved',
    'CommentReopened',
    'CommentReactionsChanged',
    'CommentDeleted',
    'CommentReplyPosted',
    'CommentReplyEdited',
    'CommentReplyReactionsChanged',
    'CommentReplyDeleted',
  ],
  collections: [commentsCollection, repliesCollection],
  async apply(event: Recorded<DomainEvent>, reader) {
    // The runtime hands over only events of the types in `handles`.
    const fact = event as unknown as CommentEvent;
    const { revision } = event;
    const write = (collection: CollectionSpec, id: string, document: unknown): ProjectionWrite => ({
      collection,
      write: document === null ? { kind: 'remove', id, revision } : { kind: 'put', id, revision, document },
    });
    const { commentId } = fact.data;
    const writes: ProjectionWrite[] = [];
    const first = event.revision === 0;
    const before = first ? undefined : await reader.get<CommentDocument>(commentsCollection, commentId);
    const after = evolveComment(before, fact);
    if (after !== undefined) writes.push(write(commentsCollection, commentId, after));
    if ('replyId' in fact.data) {
      const { replyId } = fact.data;
      const known = fact.type === 'CommentReplyPosted';
      const reply = evolveReply(known ? undefined : await reader.get<ReplyDocument>(repliesCollection, replyId), fact);
      if (reply !== undefined) writes.push(write(repliesCollection, replyId, reply));
    }
    if (fact.type === 'CommentDeleted')
      for (const replyId of fact.data.replies) writes.push(write(repliesCollection, replyId, null));
    return writes;
  },
};
