import type { CommentReply, DocumentInput } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { listIdentity, type OperationContext } from '@bindery/service-kit';
import { answerReply, expectedTag, replyAfter } from '../answer.ts';
import { type BodyFormat, readCommentBody } from '../body.ts';
import type { CommentDeps } from '../deps.ts';
import { pageOfBodies } from '../list.ts';
import { findComment, findPlace, findReply } from '../place.ts';
import { presentReply, requireAuthor } from '../present.ts';
import { readReactionChange } from '../reaction-rules.ts';
import { type Changes, type CommentParams, defaultFormat, unlessGone } from './comments.ts';

type ReplyParams = CommentParams & { readonly commentReplyId: string };

interface OneReply {
  readonly status: 200;
  readonly body: CommentReply;
  readonly etag: string;
}

/** GET .../comments/{commentId}/replies: the oldest first. */
export const listReplies =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    request: {
      params: CommentParams;
      query: { readonly page?: string; readonly limit?: number; readonly format?: BodyFormat };
    },
  ) => {
    const { params, query } = request;
    const place = await findPlace(deps, context, params, 'view');
    const { id: commentId } = await findComment(deps, place, params.commentId);
    const { format = defaultFormat, page, limit } = query;
    const found = await pageOfBodies(
      deps.replies,
      { where: { commentId }, field: 'number', direction: 'asc' },
      { list: listIdentity('listReplies', { commentId }), page, limit },
      deps.cursors,
    );
    const items = found.items.map(({ document }) => presentReply({ context, place, format }, document));
    return { status: 200 as const, body: { ...found, items } };
  };

/** POST .../comments/{commentId}/replies */
export const postReply =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    request: {
      params: CommentParams;
      query: { readonly format?: BodyFormat };
      body: { readonly body: DocumentInput };
    },
  ): Promise<OneReply> => {
    const { params, query, body } = request;
    const place = await findPlace(deps, context, params, 'comment');
    const { id: commentId } = await findComment(deps, place, params.commentId);
    const replyId = context.ids.id();
    const handled = await deps.repository.handle(
      commentId,
      {
        type: 'PostReply',
        data: {
          replyId,
          body: readCommentBody(body.body, 'body.body'),
          organizationId: place.space.organizationId,
          by: context.principal.id,
          at: context.now.toISOString(),
        },
      },
      commandMetadata(context, place.space.organizationId),
    );
    const view = { context, place, format: query.format ?? defaultFormat };
    return { status: 200, ...answerReply(view, await replyAfter(deps, undefined, handled, replyId)) };
  };

/** GET .../comments/{commentId}/replies/{commentReplyId} */
export const getReply =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, query }: { params: ReplyParams; query: { readonly format?: BodyFormat } },
  ): Promise<OneReply> => {
    const place = await findPlace(deps, context, params, 'view');
    const { id } = await findComment(deps, place, params.commentId);
    const { document } = await findReply(deps, id, params.commentReplyId);
    return { status: 200, ...answerReply({ context, place, format: query.format ?? defaultFormat }, document) };
  };

/** PUT .../comments/{commentId}/replies/{commentReplyId}. A reply has no status: `resolved` says nothing here. */
export const updateReply =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, body, ifMatch }: { params: ReplyParams; body: Changes; ifMatch?: string },
  ): Promise<OneReply> => {
    const place = await findPlace(deps, context, params, 'comment');
    const { id } = await findComment(deps, place, params.commentId);
    const { document } = await findReply(deps, id, params.commentReplyId);
    const view = { context, place, format: defaultFormat };
    if (body.body !== undefined) requireAuthor(view, document.postedBy, 'edit');
    const reactions = readReactionChange(body.addedReactions, body.removedReactions);
    const expectedVersion = expectedTag(ifMatch);
    const handled = await deps.repository.handle(
      id,
      {
        type: 'UpdateReply',
        data: {
          replyId: document.id,
          ...(expectedVersion === undefined ? {} : { expectedVersion }),
          ...(body.body === undefined ? {} : { body: readCommentBody(body.body, 'body.body') }),
          ...(reactions === undefined ? {} : { reactions }),
          organizationId: place.space.organizationId,
          by: context.principal.id,
          at: context.now.toISOString(),
        },
      },
      commandMetadata(context, place.space.organizationId),
    );
    return { status: 200, ...answerReply(view, await replyAfter(deps, document, handled, document.id)) };
  };

/** DELETE .../comments/{commentId}/replies/{commentReplyId}: 205, or 204 when there was none. */
export const deleteReply =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, ifMatch }: { params: ReplyParams; ifMatch?: string },
  ): Promise<{ readonly status: 204 | 205 }> => {
    const place = await findPlace(deps, context, params, 'comment');
    const { id } = await findComment(deps, place, params.commentId);
    const expectedVersion = expectedTag(ifMatch);
    const found = await unlessGone(findReply(deps, id, params.commentReplyId));
    if (found === undefined) return { status: 204 };
    requireAuthor({ context, place }, found.document.postedBy, 'delete');
    const handled = await deps.repository.handle(
      id,
      {
        type: 'DeleteReply',
        data: {
          replyId: found.id,
          ...(expectedVersion === undefined ? {} : { expectedVersion }),
          organizationId: place.space.organizationId,
          by: context.principal.id,
          at: context.now.toISOString(),
        },
      },
      commandMetadata(context, place.space.organizationId),
    );
    return { status: handled.events.length > 0 ? 205 : 204 };
  };
