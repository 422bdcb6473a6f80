import { type Comment, type CommentReply, limits } from '@bindery/contracts';
import { forbidden, type OperationContext } from '@bindery/service-kit';
import { type BodyFormat, writeCommentBody } from './body.ts';
import type { Place } from './place.ts';
import type { Reaction } from './reaction-rules.ts';
import type { CommentDocument, ReplyDocument, ReplyNote } from './read-model/document.ts';

/** Who sees it, where, and in which form. */
export interface View {
  readonly context: Pick<OperationContext, 'baseUrl' | 'principal'>;
  readonly place: Pick<Place, 'spaceId' | 'changeRequestId' | 'permissions'>;
  readonly format: BodyFormat;
}

/**
 * What a caller that may see the space may do with a comment or reply (gaps-filled section 12): whoever may comment may
 * reply, react and resolve; of them, its author and administrators of the space may change what it says and delete it.
 */
export const commentPermissions = (
  { context, place }: Pick<View, 'context' | 'place'>,
  postedBy: string,
): { readonly view: true; readonly edit: boolean; readonly reply: boolean; readonly delete: boolean } => {
  const { comment, admin } = place.permissions;
  const mine = comment && (admin || context.principal.id === postedBy);
  return { view: true, edit: mine, reply: comment, delete: mine };
};

/** @throws Problem forbidden */
export const requireAuthor = (
  view: Pick<View, 'context' | 'place'>,
  postedBy: string,
  what: 'edit' | 'delete',
): void => {
  if (!commentPermissions(view, postedBy)[what])
    throw forbidden('comment.author_needed', `Only its author and administrators of the space may ${what} it.`);
};

const presentReactions = (reactions: readonly Reaction[]): Comment['reactions'] =>
  [...Map.groupBy(reactions, ({ emoji }) => emoji)].map(([emoji, all]) => ({
    emoji,
    count: all.length,
    users: all.map(({ user, at }) => ({ user, reactedAt: at })),
  }));

/** The latest first. */
const repliersOf = (replies: readonly ReplyNote[]): Comment['repliers'] =>
  [...Map.groupBy(replies.toReversed(), ({ by }) => by)]
    .slice(0, limits.comment.repliersShown)
    .map(([user, all]) => ({ user, count: all.length, updatedAt: all[0]?.at ?? '' }));

const said = (view: View, document: CommentDocument | ReplyDocument) => ({
  id: document.id,
  postedBy: document.postedBy,
  postedAt: document.postedAt,
  ...(document.editedAt === undefined ? {} : { editedAt: document.editedAt }),
  reactions: presentReactions(document.reactions),
  body: writeCommentBody(document.body, view.format, { ...view.place, baseUrl: view.context.baseUrl }),
  permissions: commentPermissions(view, document.postedBy),
});

/** Address of a comment in the API. */
export const commentLocation = (
  baseUrl: string,
  { spaceId, changeRequestId }: Pick<Place, 'spaceId' | 'changeRequestId'>,
  commentId: string,
): string => {
  const within = changeRequestId === undefined ? '' : `/change-requests/${changeRequestId}`;
  return `${baseUrl}/v1/spaces/${spaceId}${within}/comments/${commentId}`;
};

/** A comment as clients see it (resources section 2). */
export const presentComment = (view: View, document: CommentDocument): Comment => {
  const { status, resolvedAt, resolvedBy, target, replies } = document;
  const { pageId, node, tableCell, reviewId, revision } = target;
  return {
    object: 'comment',
    ...said(view, document),
    status,
    ...(resolvedAt === undefined ? {} : { resolvedAt }),
    ...(resolvedBy === undefined ? {} : { resolvedBy }),
    replies: replies.length,
    repliers: repliersOf(replies),
    target: {
      space: document.spaceId,
      revision,
      ...(document.changeRequestId === undefined ? {} : { changeRequest: document.changeRequestId }),
      ...(reviewId === undefined ? {} : { review: reviewId }),
      ...(pageId === undefined ? {} : { page: { id: pageId } }),
      ...(node === undefined ? {} : { node: { id: node } }),
      ...(tableCell === undefined ? {} : { tableCell: { ...tableCell } }),
    },
    urls: { location: commentLocation(view.context.baseUrl, view.place, document.id) },
  };
};

/** A reply as clients see it (resources section 3). */
export const presentReply = (view: View, document: ReplyDocument): CommentReply => ({
  object: 'comment-reply',
  ...said(view, document),
  urls: {
    location: `${commentLocation(view.context.baseUrl, view.place, document.commentId)}/replies/${document.id}`,
  },
});
