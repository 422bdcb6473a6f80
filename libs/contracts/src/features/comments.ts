import Type, { type Static, type TProperties } from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, paging, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { Document, JSONDocument } from '../schemas/document.ts';
import type { DocumentInput } from '../schemas/document-types.ts';
import { changeRequestParams } from './change-requests.ts';

const optional = Type.Optional;
const User = embedded('user', 'User');

/** What a comment or reply says, as callers give it: shorter than a page. */
export const CommentBodyInput = Type.Unsafe<DocumentInput>({
  ...closed({
    markdown: optional(Type.String({ maxLength: limits.comment.markdown })),
    document: optional(JSONDocument),
  }),
  maxProperties: 1,
});

const Body = CommentBodyInput;

const Emoji = Type.String({ minLength: 1, maxLength: limits.space.emoji });

/** Who reacted, by emoji (resources section 0). */
const EmojiReactions = component(
  'EmojiReactions',
  Type.Array(
    closed({
      emoji: Emoji,
      count: Type.Integer(),
      users: Type.Array(closed({ user: User, reactedAt: DateTime })),
    }),
  ),
);

const CommentPermissions = component(
  'CommentPermissions',
  closed({
    view: Type.Boolean(),
    edit: Type.Boolean({ description: 'Change what it says.' }),
    reply: optional(Type.Boolean({ description: 'Reply, react, resolve.' })),
    delete: Type.Boolean(),
  }),
);

const UserContributor = component(
  'UserContributor',
  closed({ updatedAt: DateTime, count: Type.Integer({ description: 'How often.' }), user: User }),
);

const said = {
  id: Id(),
  postedBy: User,
  postedAt: DateTime,
  editedAt: optional(DateTime),
  reactions: EmojiReactions,
  body: Document,
  urls: closed({ location: Uri }),
  permissions: CommentPermissions,
};

const TableCell = closed({
  record: Type.String({ maxLength: limits.comment.cellKey }),
  definition: Type.String({ maxLength: limits.comment.cellKey }),
});

/** A comment as clients see it (resources section 2). */
export const Comment = component(
  'Comment',
  closed({
    object: Type.Literal('comment'),
    ...said,
    status: words(['open', 'resolved']),
    resolvedAt: optional(DateTime),
    resolvedBy: optional(User),
    replies: Type.Integer({ description: 'How many.' }),
    repliers: Type.Array(UserContributor, { description: 'Who replied, the latest first; at most 100.' }),
    target: closed({
      space: Id(),
      revision: Id('The revision that was commented on.'),
      changeRequest: optional(Id()),
      review: optional(Id()),
      page: optional(closed({ id: Id() })),
      node: optional(closed({ id: Type.String() })),
      tableCell: optional(TableCell),
    }),
  }),
);
/** What a handler answers for a comment; embedded users are ids. */
export type Comment = Static<typeof Comment>;

/** A reply as clients see it (resources section 3). */
export const CommentReply = component('CommentReply', closed({ object: Type.Literal('comment-reply'), ...said }));
/** What a handler answers for a reply; embedded users are ids. */
export type CommentReply = Static<typeof CommentReply>;

const format = optional(
  words(['document', 'markdown'], { default: 'markdown', description: 'The form in which bodies are answered.' }),
);
const reactions = (description: string) =>
  optional(Type.Array(Emoji, { maxItems: limits.comment.reactionsPerChange, description }));

const postBody = closed({
  body: Body,
  page: optional(Id('A page of the content that is commented on.')),
  node: optional(
    Type.String({ minLength: 1, maxLength: limits.comment.nodeKey, description: 'Key of a block of that page.' }),
  ),
  tableCell: optional(TableCell),
});
const change = {
  body: optional(Body),
  addedReactions: reactions('Emoji, or their code points in hex. One of a kind for each user.'),
  removedReactions: reactions('Of the caller; those that are not there make no difference.'),
};
const commentChange = closed({ resolved: optional(Type.Boolean()), ...change });
const listQuery = closed({
  ...paging,
  order: optional(words(['asc', 'desc'], { default: 'desc', description: 'By time of posting.' })),
  status: optional(words(['all', 'open', 'resolved'], { default: 'all' })),
  format,
  targetPage: optional(Id('Those on this page.')),
  authors: optional(
    Type.Array(Id(), { maxItems: limits.comment.authorsInFilter, description: 'By one of these; may be repeated.' }),
  ),
});

const common = { owner: 'content', surface: 'public', tag: 'Comments' } as const;
const reads = { method: 'GET', access: 'space:view', scope: 'space:read', query: closed({ format }) } as const;
const writes = { access: 'space:comment', scope: 'space:write' } as const;

const space = { spaceId: Id() };
const comment = { commentId: Id() };
const reply = { ...comment, commentReplyId: Id() };
const inSpace = '/spaces/{spaceId}/comments';
const inChangeRequest = '/spaces/{spaceId}/change-requests/{changeRequestId}/comments';

const deleted = 'Its author and administrators of the space may. 205 when it was deleted, 204 when there was none.';
const updated =
  'What it says is changed by its author and by administrators of the space; reactions and status by whoever may comment.';

/** The operations at one place; their ids end in its name. */
const at = <const Place extends 'Space' | 'ChangeRequest', P extends TProperties>(
  place: Place,
  path: string,
  params: P,
) =>
  ({
    list: operation({
      ...common,
      ...reads,
      id: `listCommentsIn${place}`,
      path,
      summary: 'List comments',
      params: closed(params),
      query: listQuery,
      success: { 200: listOf(Comment) },
    }),
    post: operation({
      ...common,
      ...writes,
      id: `postCommentIn${place}`,
      method: 'POST',
      path,
      summary: 'Post a comment',
      description: 'On the content as a whole, a page, a block of a page (`node`), or a cell of a table in a page.',
      params: closed(params),
      body: postBody,
      success: { 200: Comment },
      etag: true,
    }),
    get: operation({
      ...common,
      ...reads,
      id: `getCommentIn${place}`,
      path: `${path}/{commentId}`,
      summary: 'Get a comment',
      params: closed({ ...params, ...comment }),
      success: { 200: Comment },
      etag: true,
    }),
    update: operation({
      ...common,
      ...writes,
      id: `updateCommentIn${place}`,
      method: 'PUT',
      path: `${path}/{commentId}`,
      summary: 'Change, resolve or react to a comment',
      description: updated,
      params: closed({ ...params, ...comment }),
      body: commentChange,
      success: { 200: Comment },
      errors: [409],
      etag: true,
    }),
    remove: operation({
      ...common,
      ...writes,
      id: `deleteCommentIn${place}`,
      method: 'DELETE',
      access: 'comment:delete',
      path: `${path}/{commentId}`,
      summary: 'Delete a comment and its replies',
      description: deleted,
      params: closed({ ...params, ...comment }),
      success: { 204: null, 205: null },
      ifMatch: true,
    }),
    listReplies: operation({
      ...common,
      ...reads,
      id: `listCommentRepliesIn${place}`,
      path: `${path}/{commentId}/replies`,
      summary: 'List the replies to a comment',
      description: 'The oldest first.',
      params: closed({ ...params, ...comment }),
      query: closed({ ...paging, format }),
      success: { 200: listOf(CommentReply) },
    }),
    getReply: operation({
      ...common,
      ...reads,
      id: `getCommentReplyIn${place}`,
      path: `${path}/{commentId}/replies/{commentReplyId}`,
      summary: 'Get a reply',
      params: closed({ ...params, ...reply }),
      success: { 200: CommentReply },
      etag: true,
    }),
    removeReply: operation({
      ...common,
      ...writes,
      id: `deleteCommentReplyIn${place}`,
      method: 'DELETE',
      access: 'comment:delete',
      path: `${path}/{commentId}/replies/{commentReplyId}`,
      summary: 'Delete a reply',
      description: deleted,
      params: closed({ ...params, ...reply }),
      success: { 204: null, 205: null },
      ifMatch: true,
    }),
  }) as const;

const postReply = {
  ...common,
  ...writes,
  method: 'POST',
  summary: 'Reply to a comment',
  body: closed({ body: Body }),
  success: { 200: CommentReply },
  errors: [409],
  etag: true,
} as const;
const updateReply = {
  ...common,
  ...writes,
  method: 'PUT',
  summary: 'Change or react to a reply',
  success: { 200: CommentReply },
  errors: [409],
  etag: true,
} as const;

const ofSpace = at('Space', inSpace, space);
const ofChangeRequest = at('ChangeRequest', inChangeRequest, changeRequestParams);

/** Operations on comments of spaces and change requests, and on their replies. */
export const commentOperations = {
  listCommentsInSpace: ofSpace.list,
  postCommentInSpace: ofSpace.post,
  getCommentInSpace: ofSpace.get,
  updateCommentInSpace: ofSpace.update,
  deleteCommentInSpace: ofSpace.remove,
  listCommentRepliesInSpace: ofSpace.listReplies,
  postCommentReplyInSpace: operation({
    ...postReply,
    id: 'postCommentReplyInSpace',
    path: `${inSpace}/{commentId}/replies`,
    params: closed({ ...space, ...comment }),
  }),
  getCommentReplyInSpace: ofSpace.getReply,
  updateCommentReplyInSpace: operation({
    ...updateReply,
    id: 'updateCommentReplyInSpace',
    path: `${inSpace}/{commentId}/replies/{commentReplyId}`,
    description: updated,
    params: closed({ ...space, ...reply }),
    body: closed(change),
  }),
  deleteCommentReplyInSpace: ofSpace.removeReply,
  listCommentsInChangeRequest: ofChangeRequest.list,
  postCommentInChangeRequest: ofChangeRequest.post,
  getCommentInChangeRequest: ofChangeRequest.get,
  updateCommentInChangeRequest: ofChangeRequest.update,
  deleteCommentInChangeRequest: ofChangeRequest.remove,
  listCommentRepliesInChangeRequest: ofChangeRequest.listReplies,
  postCommentReplyInChangeRequest: operation({
    ...postReply,
    id: 'postCommentReplyInChangeRequest',
    path: `${inChangeRequest}/{commentId}/replies`,
    params: closed({ ...changeRequestParams, ...comment }),
    query: closed({ format }),
  }),
  getCommentReplyInChangeRequest: ofChangeRequest.getReply,
  updateCommentReplyInChangeRequest: operation({
    ...updateReply,
    id: 'updateCommentReplyInChangeRequest',
    path: `${inChangeRequest}/{commentId}/replies/{commentReplyId}`,
    description: `${updated} \`resolved\` is let in and changes nothing: a reply has no status.`,
    params: closed({ ...changeRequestParams, ...reply }),
    body: commentChange,
  }),
  deleteCommentReplyInChangeRequest: ofChangeRequest.removeReply,
} as const;
