import type { Stored } from '@bindery/read-store';
import { notFound, type OperationContext } from '@bindery/service-kit';
import type { SpaceAccess } from '../access/index.ts';
import type { CommentDeps } from './deps.ts';
import { type CommentDocument, placeOf, type ReplyDocument } from './read-model/document.ts';

/** What a path says comments are on. */
export interface PlaceParams {
  readonly spaceId: string;
  /** Id or number. */
  readonly changeRequestId?: string;
}

/** A space or change request on which the caller may do what it needs. */
export interface Place extends SpaceAccess {
  readonly spaceId: string;
  readonly changeRequestId?: string;
  /** `placeOf` it. */
  readonly key: string;
  /** The revision that is commented on: the newest. */
  readonly revision: string;
}

/**
 * Finds what is commented on. The status of a change request makes no difference: what was merged or archived can still be
 * talked about.
 * @throws Problem not-found, forbidden
 */
export const findPlace = async (
  { access, changeRequests }: Pick<CommentDeps, 'access' | 'changeRequests'>,
  context: OperationContext,
  { spaceId, changeRequestId }: PlaceParams,
  need: 'view' | 'comment',
): Promise<Place> => {
  const [found, changeRequest] = await Promise.all([
    access.space(context, spaceId, need),
    changeRequestId === undefined ? undefined : changeRequests.find(spaceId, changeRequestId),
  ]);
  if (changeRequestId === undefined)
    return { ...found, spaceId, key: placeOf(spaceId), revision: found.space.revision };
  if (changeRequest === undefined) throw notFound('change request');
  const { id, document } = changeRequest;
  return { ...found, spaceId, changeRequestId: id, key: placeOf(spaceId, id), revision: document.revision };
};

/** A comment of a place. @throws Problem not-found, also for one of another place */
export const findComment = async (
  { comments }: Pick<CommentDeps, 'comments'>,
  place: Place,
  commentId: string,
): Promise<Stored<CommentDocument>> => {
  const found = await comments.get(commentId);
  if (found === undefined || found.document.place !== place.key) throw notFound('comment');
  return found;
};

/** A reply to a comment. @throws Problem not-found, also for one to another comment */
export const findReply = async (
  { replies }: Pick<CommentDeps, 'replies'>,
  commentId: string,
  replyId: string,
): Promise<Stored<ReplyDocument>> => {
  const found = await replies.get(replyId);
  if (found === undefined || found.document.commentId !== commentId) throw notFound('reply');
  return found;
};
