import type { JSONDocument } from '@bindery/contracts';

/** What a comment or reply says. */
export interface CommentBody {
  readonly document: JSONDocument;
  /** As it was written; absent when it came as a document. */
  readonly markdown?: string;
}

/** What a comment is about, within the revision that it was posted on. */
export interface CommentTarget {
  readonly revision: string;
  readonly pageId?: string;
  /** Key of a block of the page. */
  readonly node?: string;
  readonly tableCell?: { readonly record: string; readonly definition: string };
  /** The review that it came with. */
  readonly reviewId?: string;
}

interface OfComment {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly commentId: string;
  /** Absent for a comment on the space itself. */
  readonly changeRequestId?: string;
}
interface OfReply extends OfComment {
  readonly replyId: string;
}
type Reacted = { readonly added: readonly string[]; readonly removed: readonly string[] };

/** Events of a thread's stream `content.comment-<id>`: a comment and its replies. */
export type CommentEvent =
  | {
      readonly type: 'CommentPosted';
      readonly data: OfComment & {
        readonly target: CommentTarget;
        readonly body: CommentBody;
        readonly postedBy: string;
        readonly postedAt: string;
      };
    }
  | {
      readonly type: 'CommentEdited';
      readonly data: OfComment & { readonly body: CommentBody; readonly editedBy: string; readonly editedAt: string };
    }
  | {
      readonly type: 'CommentResolved';
      readonly data: OfComment & { readonly resolvedBy: string; readonly resolvedAt: string };
    }
  | {
      readonly type: 'CommentReopened';
      readonly data: OfComment & { readonly reopenedBy: string; readonly reopenedAt: string };
    }
  /** Emoji that one user put on a comment or took off it; none is named that changes nothing. */
  | {
      readonly type: 'CommentReactionsChanged';
      readonly data: OfComment & Reacted & { readonly changedBy: string; readonly changedAt: string };
    }
  | {
      readonly type: 'CommentDeleted';
      readonly data: OfComment & {
        /** Ids of the replies that go with it. */
        readonly replies: readonly string[];
        readonly deletedBy: string;
        readonly deletedAt: string;
        /** It went with its space. */
        readonly purged?: true;
      };
    }
  | {
      readonly type: 'CommentReplyPosted';
      readonly data: OfReply & {
        /** Counts up in the thread, so that replies have an order even within a millisecond. */
        readonly number: number;
        readonly body: CommentBody;
        readonly postedBy: string;
        readonly postedAt: string;
      };
    }
  | {
      readonly type: 'CommentReplyEdited';
      readonly data: OfReply & { readonly body: CommentBody; readonly editedBy: string; readonly editedAt: string };
    }
  | {
      readonly type: 'CommentReplyReactionsChanged';
      readonly data: OfReply & Reacted & { readonly changedBy: string; readonly changedAt: string };
    }
  | {
      readonly type: 'CommentReplyDeleted';
      readonly data: OfReply & { readonly deletedBy: string; readonly deletedAt: string };
    };
