import { limits } from '@bindery/contracts';
import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, notFound, preconditionFailed } from '@bindery/service-kit';
import type { CommentBody, CommentEvent } from './events.ts';
import { effectiveChange, type ReactionChange } from './reaction-rules.ts';
import { type CommentState, evolve, initialState, isThere, type OpenedThread, type ReplyState } from './state.ts';

interface By {
  /** That the space is in now: it can be transferred. */
  readonly organizationId: string;
  readonly by: string;
  /** ISO time. */
  readonly at: string;
}

export interface PostComment {
  readonly type: 'PostComment';
  readonly data: Extract<CommentEvent, { type: 'CommentPosted' }>['data'];
}

/** Absent fields stay as they are. */
export interface UpdateComment {
  readonly type: 'UpdateComment';
  readonly data: By & {
    readonly body?: CommentBody;
    readonly resolved?: boolean;
    readonly reactions?: ReactionChange;
  };
}

export interface DeleteComment {
  readonly type: 'DeleteComment';
  /** `purged`: its space is gone for good. */
  readonly data: By & { readonly purged?: true };
}

export interface PostReply {
  readonly type: 'PostReply';
  readonly data: By & { readonly replyId: string; readonly body: CommentBody };
}

/** Absent fields stay as they are. */
export interface UpdateReply {
  readonly type: 'UpdateReply';
  readonly data: By & {
    readonly replyId: string;
    /** Version that the caller has seen (`If-Match`). */
    readonly expectedVersion?: number;
    readonly body?: CommentBody;
    readonly reactions?: ReactionChange;
  };
}

export interface DeleteReply {
  readonly type: 'DeleteReply';
  readonly data: By & { readonly replyId: string; readonly expectedVersion?: number };
}

export type CommentCommand = PostComment | UpdateComment | DeleteComment | PostReply | UpdateReply | DeleteReply;

const idsOf = ({ spaceId, commentId, changeRequestId }: OpenedThread, { organizationId }: By) => ({
  spaceId,
  organizationId,
  commentId,
  ...(changeRequestId === undefined ? {} : { changeRequestId }),
});

/** Whether two bodies say the same, in the same form. */
const sameBody = (a: CommentBody, b: CommentBody): boolean =>
  a.markdown !== undefined || b.markdown !== undefined
    ? a.markdown === b.markdown
    : JSON.stringify(a.document) === JSON.stringify(b.document);

const updateComment = ({ data }: UpdateComment, state: OpenedThread): CommentEvent[] => {
  const { by, at, body, resolved, reactions } = data;
  const ids = idsOf(state, data);
  const events: CommentEvent[] = [];
  if (body !== undefined && !sameBody(body, state.body))
    events.push({ type: 'CommentEdited', data: { ...ids, body, editedBy: by, editedAt: at } });
  if (resolved === true && state.status === 'open')
    events.push({ type: 'CommentResolved', data: { ...ids, resolvedBy: by, resolvedAt: at } });
  if (resolved === false && state.status === 'resolved')
    events.push({ type: 'CommentReopened', data: { ...ids, reopenedBy: by, reopenedAt: at } });
  const change = reactions && effectiveChange(state.reactions, reactions, by);
  if (change !== undefined)
    events.push({ type: 'CommentReactionsChanged', data: { ...ids, ...change, changedBy: by, changedAt: at } });
  return events;
};

const postReply = ({ data }: PostReply, state: OpenedThread): CommentEvent[] => {
  const { replyId, body, by, at } = data;
  if (state.replies.has(replyId)) return [];
  if (state.replies.size >= limits.comment.replies)
    throw conflict('comment.too_many_replies', `A comment can have ${limits.comment.replies} replies at most.`);
  const facts = { ...idsOf(state, data), replyId, number: state.lastNumber + 1, body, postedBy: by, postedAt: at };
  return [{ type: 'CommentReplyPosted', data: facts }];
};

const requireVersion = (reply: ReplyState, expected: number | undefined): void => {
  if (expected !== undefined && expected !== reply.version)
    throw preconditionFailed('If-Match: the reply has changed since; read it again and repeat the change.');
};

const updateReply = ({ data }: UpdateReply, state: OpenedThread): CommentEvent[] => {
  const { replyId, expectedVersion, by, at, body, reactions } = data;
  const reply = state.replies.get(replyId);
  if (reply === undefined) throw notFound('reply');
  requireVersion(reply, expectedVersion);
  const ids = { ...idsOf(state, data), replyId };
  const events: CommentEvent[] = [];
  if (body !== undefined && !sameBody(body, reply.body))
    events.push({ type: 'CommentReplyEdited', data: { ...ids, body, editedBy: by, editedAt: at } });
  const change = reactions && effectiveChange(reply.reactions, reactions, by);
  if (change !== undefined)
    events.push({ type: 'CommentReplyReactionsChanged', data: { ...ids, ...change, changedBy: by, changedAt: at } });
  return events;
};

const deleteReply = ({ data }: DeleteReply, state: OpenedThread): CommentEvent[] => {
  const reply = state.replies.get(data.replyId);
  if (reply === undefined) return [];
  requireVersion(reply, data.expectedVersion);
  const facts = { ...idsOf(state, data), replyId: data.replyId, deletedBy: data.by, deletedAt: data.at };
  return [{ type: 'CommentReplyDeleted', data: facts }];
};

const deleteComment = ({ data }: DeleteComment, state: OpenedThread): CommentEvent[] => {
  const { by, at, purged } = data;
  const facts = { ...idsOf(state, data), replies: [...state.replies.keys()], deletedBy: by, deletedAt: at };
  return [{ type: 'CommentDeleted', data: { ...facts, ...(purged ? { purged } : {}) } }];
};

/** Decides on one thread. Who may do it is decided before: it depends on the space. */
const decide = (command: CommentCommand, state: CommentState): readonly CommentEvent[] => {
  if (command.type === 'PostComment')
    // Sent twice: a comment that was deleted in between does not come back.
    return state.status === 'none' ? [{ type: 'CommentPosted', data: command.data }] : [];
  if (!isThere(state)) {
    if (command.type === 'DeleteComment' || command.type === 'DeleteReply') return [];
    throw notFound('comment');
  }
  switch (command.type) {
    case 'UpdateComment':
      return updateComment(command, state);
    case 'DeleteComment':
      return deleteComment(command, state);
    case 'PostReply':
      return postReply(command, state);
    case 'UpdateReply':
      return updateReply(command, state);
    case 'DeleteReply':
      return deleteReply(command, state);
    default:
      return assertNever(command);
  }
};

/** The rules of a thread. */
export const commentDecider: Decider<CommentState, CommentCommand, CommentEvent> = { initialState, decide, evolve };
