import { ignoreUnknown } from '@bindery/event-sourcing';
import type { CommentBody, CommentEvent } from './events.ts';
import { applyReactions, type Reaction } from './reaction-rules.ts';

/** A reply, as decisions need it. */
export interface ReplyState {
  readonly postedBy: string;
  readonly body: CommentBody;
  readonly reactions: readonly Reaction[];
  /** Counts its changes; its entity tag. */
  readonly version: number;
}

/** A comment with its replies. */
export interface OpenedThread {
  readonly status: 'open' | 'resolved';
  readonly spaceId: string;
  readonly commentId: string;
  readonly changeRequestId?: string;
  readonly postedBy: string;
  readonly body: CommentBody;
  readonly reactions: readonly Reaction[];
  readonly replies: ReadonlyMap<string, ReplyState>;
  /** The number that the last reply was given. */
  readonly lastNumber: number;
}

export type CommentState = { readonly status: 'none' | 'deleted' } | OpenedThread;

export const initialState = (): CommentState => ({ status: 'none' });

/** True for a thread that is there. */
export const isThere = (state: CommentState): state is OpenedThread =>
  state.status === 'open' || state.status === 'resolved';

const withReply = (
  state: OpenedThread,
  replyId: string,
  change: (reply: ReplyState) => Partial<ReplyState>,
): OpenedThread => {
  const reply = state.replies.get(replyId);
  if (reply === undefined) return state;
  const next = { ...reply, ...change(reply), version: reply.version + 1 };
  return { ...state, replies: new Map(state.replies).set(replyId, next) };
};

/** Folds one event into the state. Never throws. */
export const evolve = (state: CommentState, event: CommentEvent): CommentState => {
  if (event.type === 'CommentPosted') {
    const { target: _t, postedAt: _a, organizationId: _o, ...facts } = event.data;
    return { status: 'open', ...facts, reactions: [], replies: new Map(), lastNumber: 0 };
  }
  if (!isThere(state)) return state;
  switch (event.type) {
    case 'CommentEdited':
      return { ...state, body: event.data.body };
    case 'CommentResolved':
      return { ...state, status: 'resolved' };
    case 'CommentReopened':
      return { ...state, status: 'open' };
    case 'CommentReactionsChanged': {
      const { changedBy, changedAt } = event.data;
      return { ...state, reactions: applyReactions(state.reactions, event.data, changedBy, changedAt) };
    }
    case 'CommentDeleted':
      return { status: 'deleted' };
    case 'CommentReplyPosted': {
      const { replyId, number, body, postedBy } = event.data;
      const replies = new Map(state.replies).set(replyId, { postedBy, body, reactions: [], version: 0 });
      return { ...state, replies, lastNumber: number };
    }
    case 'CommentReplyEdited':
      return withReply(state, event.data.replyId, () => ({ body: event.data.body }));
    case 'CommentReplyReactionsChanged': {
      const { replyId, changedBy, changedAt } = event.data;
      return withReply(state, replyId, ({ reactions }) => ({
        reactions: applyReactions(reactions, event.data, changedBy, changedAt),
      }));
    }
    case 'CommentReplyDeleted': {
      const replies = new Map(state.replies);
      replies.delete(event.data.replyId);
      return { ...state, replies };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
