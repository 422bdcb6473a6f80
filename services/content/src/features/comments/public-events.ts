import { contentEvents } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { CommentEvent } from './events.ts';

/** What others hear of a thread: who did what, and where; never what was said. */
export const commentPublicEvents = (event: CommentEvent): readonly PublicEvent[] => {
  const { spaceId, organizationId, commentId, changeRequestId } = event.data;
  const ids = { spaceId, organizationId, commentId, ...(changeRequestId === undefined ? {} : { changeRequestId }) };
  switch (event.type) {
    case 'CommentPosted': {
      const { target, postedBy, postedAt } = event.data;
      return say(contentEvents.commentPosted, commentId, {
        ...ids,
        revisionId: target.revision,
        ...(target.pageId === undefined ? {} : { pageId: target.pageId }),
        ...(target.reviewId === undefined ? {} : { reviewId: target.reviewId }),
        postedBy,
        postedAt,
      });
    }
    case 'CommentEdited': {
      const { editedBy, editedAt } = event.data;
      return say(contentEvents.commentEdited, commentId, { ...ids, editedBy, editedAt });
    }
    case 'CommentResolved': {
      const { resolvedBy, resolvedAt } = event.data;
      return say(contentEvents.commentResolved, commentId, { ...ids, resolvedBy, resolvedAt });
    }
    case 'CommentReopened': {
      const { reopenedBy, reopenedAt } = event.data;
      return say(contentEvents.commentReopened, commentId, { ...ids, reopenedBy, reopenedAt });
    }
    case 'CommentReactionsChanged':
    case 'CommentReplyReactionsChanged': {
      const { added, removed, changedBy, changedAt } = event.data;
      const reply = 'replyId' in event.data ? { commentReplyId: event.data.replyId } : {};
      const facts = { ...ids, ...reply, added: [...added], removed: [...removed], changedBy, changedAt };
      return say(contentEvents.commentReactionsChanged, commentId, facts);
    }
    case 'CommentDeleted': {
      const { deletedBy, deletedAt, purged } = event.data;
      // That the space is gone says it for all of them.
      return purged ? [] : say(contentEvents.commentDeleted, commentId, { ...ids, deletedBy, deletedAt });
    }
    case 'CommentReplyPosted': {
      const { replyId: commentReplyId, postedBy, postedAt } = event.data;
      return say(contentEvents.commentReplyPosted, commentId, { ...ids, commentReplyId, postedBy, postedAt });
    }
    case 'CommentReplyEdited': {
      const { replyId: commentReplyId, editedBy, editedAt } = event.data;
      return say(contentEvents.commentReplyEdited, commentId, { ...ids, commentReplyId, editedBy, editedAt });
    }
    case 'CommentReplyDeleted': {
      const { replyId: commentReplyId, deletedBy, deletedAt } = event.data;
      return say(contentEvents.commentReplyDeleted, commentId, { ...ids, commentReplyId, deletedBy, deletedAt });
    }
    default:
      return [];
  }
};
