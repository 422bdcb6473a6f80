import type { Comment, DocumentInput } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import type { Where } from '@bindery/read-store';
import { isProblem, listIdentity, type OperationContext } from '@bindery/service-kit';
import { answerComment, commentAfter, countsAfter, expectedTag } from '../answer.ts';
import { type BodyFormat, readCommentBody } from '../body.ts';
import type { CommentDeps } from '../deps.ts';
import { pageOfBodies } from '../list.ts';
import { findComment, findPlace, type PlaceParams } from '../place.ts';
import { presentComment, requireAuthor } from '../present.ts';
import { readReactionChange } from '../reaction-rules.ts';
import { type GivenTarget, readTarget } from '../target.ts';

export type CommentParams = PlaceParams & { readonly commentId: string };
/** Bodies are answered as markdown unless asked for otherwise, as the reference shows them. */
export const defaultFormat: BodyFormat = 'markdown';

interface ListQuery {
  readonly page?: string;
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
  readonly status?: 'all' | 'open' | 'resolved';
  readonly format?: BodyFormat;
  readonly targetPage?: string;
  readonly authors?: readonly string[];
}

export interface Changes {
  readonly body?: DocumentInput;
  readonly addedReactions?: readonly string[];
  readonly removedReactions?: readonly string[];
}

interface OneComment {
  readonly body: Comment;
  readonly etag: string;
}

const whereOf = (place: string, { status = 'all', targetPage, authors }: ListQuery): Where => ({
  place,
  ...(status === 'all' ? {} : { status }),
  ...(targetPage === undefined ? {} : { pageId: targetPage }),
  ...(authors === undefined ? {} : { postedBy: { in: authors } }),
});

/** GET .../comments: filtered, ordered and paged in the store. */
export const listComments =
  (deps: CommentDeps) =>
  async (context: OperationContext, { params, query }: { params: PlaceParams; query: ListQuery }) => {
    const place = await findPlace(deps, context, params, 'view');
    const { format = defaultFormat, order = 'desc', page, limit, ...filters } = query;
    const authors = filters.authors && [...new Set(filters.authors)].sort();
    const where = whereOf(place.key, { ...filters, ...(authors ? { authors } : {}) });
    const list = listIdentity('listComments', { place: place.key, ...filters, authors, order });
    const found = await pageOfBodies(
      deps.comments,
      { where, field: 'postedAt', direction: order },
      { list, page, limit },
      deps.cursors,
    );
    const items = found.items.map(({ document }) => presentComment({ context, place, format }, document));
    return { status: 200 as const, body: { ...found, items } };
  };

/** POST .../comments */
export const postComment =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, body }: { params: PlaceParams; body: GivenTarget & { readonly body: DocumentInput } },
  ): Promise<OneComment & { readonly status: 200 }> => {
    const place = await findPlace(deps, context, params, 'comment');
    const { spaceId, changeRequestId, space } = place;
    const said = readCommentBody(body.body, 'body.body');
    const target = await readTarget(deps, place, body);
    const { organizationId } = space;
    const commentId = context.ids.id();
    const handled = await deps.repository.handle(
      commentId,
      {
        type: 'PostComment',
        data: {
          spaceId,
          organizationId,
          commentId,
          ...(changeRequestId === undefined ? {} : { changeRequestId }),
          target,
          body: said,
          postedBy: context.principal.id,
          postedAt: context.now.toISOString(),
        },
      },
      commandMetadata(context, organizationId),
      { likelyNew: true },
    );
    await countsAfter(deps, place, handled);
    const after = await commentAfter(deps, undefined, handled, commentId);
    return { status: 200, ...answerComment({ context, place, format: defaultFormat }, after) };
  };

/** GET .../comments/{commentId} */
export const getComment =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, query }: { params: CommentParams; query: { readonly format?: BodyFormat } },
  ): Promise<OneComment & { readonly status: 200 }> => {
    const place = await findPlace(deps, context, params, 'view');
    const found = await findComment(deps, place, params.commentId);
    return { status: 200, ...answerComment({ context, place, format: query.format ?? defaultFormat }, found) };
  };

/**
 * PUT .../comments/{commentId}: what it says is for its author and administrators, status and reactions are for whoever may
 * comment.
 */
export const updateComment =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    request: {
      params: CommentParams;
      body: Changes & { readonly resolved?: boolean };
      ifMatch?: string;
    },
  ): Promise<OneComment & { readonly status: 200 }> => {
    const { params, body, ifMatch } = request;
    const place = await findPlace(deps, context, params, 'comment');
    const found = await findComment(deps, place, params.commentId);
    const view = { context, place, format: defaultFormat };
    if (body.body !== undefined) requireAuthor(view, found.document.postedBy, 'edit');
    const reactions = readReactionChange(body.addedReactions, body.removedReactions);
    const expected = expectedTag(ifMatch);
    const handled = await deps.repository.handle(
      found.id,
      {
        type: 'UpdateComment',
        data: {
          ...(body.body === undefined ? {} : { body: readCommentBody(body.body, 'body.body') }),
          ...(body.resolved === undefined ? {} : { resolved: body.resolved }),
          ...(reactions === undefined ? {} : { reactions }),
          organizationId: place.space.organizationId,
          by: context.principal.id,
          at: context.now.toISOString(),
        },
      },
      commandMetadata(context, place.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    await countsAfter(deps, place, handled);
    return { status: 200, ...answerComment(view, await commentAfter(deps, found, handled, found.id)) };
  };

/** What `work` gives; undefined when what it is about is not there. */
export const unlessGone = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isProblem(error) && error.kind === 'not-found') return undefined;
    throw error;
  }
};

/** DELETE .../comments/{commentId}: 205, or 204 when there was none (gaps-filled section 2). */
export const deleteComment =
  (deps: CommentDeps) =>
  async (
    context: OperationContext,
    { params, ifMatch }: { params: CommentParams; ifMatch?: string },
  ): Promise<{ readonly status: 204 | 205 }> => {
    const place = await findPlace(deps, context, params, 'comment');
    const expected = expectedTag(ifMatch);
    const found = await unlessGone(findComment(deps, place, params.commentId));
    if (found === undefined) return { status: 204 };
    requireAuthor({ context, place }, found.document.postedBy, 'delete');
    const handled = await deps.repository.handle(
      found.id,
      {
        type: 'DeleteComment',
        data: { organizationId: place.space.organizationId, by: context.principal.id, at: context.now.toISOString() },
      },
      commandMetadata(context, place.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    await countsAfter(deps, place, handled);
    return { status: handled.events.length > 0 ? 205 : 204 };
  };
