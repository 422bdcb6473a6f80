import type { CollectionSpec } from '@bindery/read-store';
import type { CommentTarget } from '../events.ts';
import type { Reaction } from '../reaction-rules.ts';

/** A body as stored: what was written by others is kept as text (PITFALLS 44). */
export interface StoredBody {
  /** JSON of the document. */
  readonly json: string;
  readonly markdown?: string;
}

/** A reply, as its comment knows it. */
export interface ReplyNote {
  readonly id: string;
  readonly by: string;
  readonly at: string;
}

/** A comment as stored for reading: one per stream, in step with it. */
export interface CommentDocument {
  readonly id: string;
  readonly spaceId: string;
  readonly changeRequestId?: string;
  /** What it was posted on: `placeOf`. */
  readonly place: string;
  readonly status: 'open' | 'resolved';
  readonly pageId?: string;
  readonly target: CommentTarget;
  readonly body: StoredBody;
  readonly postedBy: string;
  readonly postedAt: string;
  readonly editedAt?: string;
  readonly resolvedBy?: string;
  readonly resolvedAt?: string;
  readonly reactions: readonly Reaction[];
  /** In the order of posting; at most `limits.comment.replies`. */
  readonly replies: readonly ReplyNote[];
}

/** A reply as stored for reading. */
export interface ReplyDocument {
  readonly id: string;
  readonly commentId: string;
  readonly number: number;
  readonly body: StoredBody;
  readonly postedBy: string;
  readonly postedAt: string;
  readonly editedAt?: string;
  readonly reactions: readonly Reaction[];
  /** Counts its changes; its entity tag. */
  readonly version: number;
}

/** What comments are posted on, as one value for indexes: the id of the space, or of the change request. */
export const placeOf = (spaceId: string, changeRequestId?: string): string => changeRequestId ?? spaceId;

export const commentsCollection: CollectionSpec = {
  name: 'content.comments',
  version: 1,
  indexes: [
    { name: 'by_place', fields: ['place', 'postedAt'] },
    { name: 'by_status', fields: ['place', 'status', 'postedAt'] },
    { name: 'by_page', fields: ['place', 'pageId', 'postedAt'] },
    { name: 'by_author', fields: ['place', 'postedBy', 'postedAt'] },
    { name: 'by_space', fields: ['spaceId'] },
  ],
};

export const repliesCollection: CollectionSpec = {
  name: 'content.comment_replies',
  version: 1,
  indexes: [{ name: 'by_comment', fields: ['commentId', 'number'] }],
};
