import type { AggregateDefinition } from '@bindery/event-sourcing';
import { type CommentCommand, commentDecider } from './decider.ts';
import type { CommentEvent } from './events.ts';
import type { CommentState } from './state.ts';

/** Streams `content.comment-<id>`, one per thread: what is said on a space costs its own stream nothing. */
export const commentAggregate: AggregateDefinition<CommentState, CommentCommand, CommentEvent> = {
  name: 'content.comment',
  decider: commentDecider,
};
