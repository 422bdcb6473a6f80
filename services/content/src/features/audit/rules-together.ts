import type { AuditRules } from '@bindery/audit';
import type { CollectionEvent } from '../collections/index.ts';
import type { CommentEvent } from '../comments/index.ts';
import type { GitSyncEvent } from '../git/index.ts';
import type { GrantEvent } from '../permissions/index.ts';

const collection = (id: string) => ({ type: 'collection', id });
const reply = (id: string) => ({ type: 'comment-reply', id });
const moved = { skip: 'Half of a move of collections to another organization; the other has the entry.' } as const;

export const collectionRules: AuditRules<CollectionEvent> = {
  CollectionCreated: {
    action: 'collection.created',
    label: 'Collection created',
    facts: ({ collectionId, title, parent, defaultLevel }) => ({
      target: collection(collectionId),
      values: { title, parent, defaultLevel },
    }),
  },
  CollectionChanged: {
    action: 'collection.settings-changed',
    label: 'Settings of a collection changed',
    facts: ({ collectionId, title, description, defaultLevel }) => ({
      target: collection(collectionId),
      values: { title, description, defaultLevel },
    }),
  },
  CollectionMoved: {
    action: 'collection.moved',
    label: 'Collection moved',
    facts: ({ collectionId, parent }) => ({ target: collection(collectionId), values: { parent } }),
  },
  CollectionDeleted: {
    action: 'collection.deleted',
    label: 'Collection deleted',
    facts: ({ collectionId, collections }) => ({
      target: collection(collectionId),
      values: { deleted: true },
      details: { collections: collections.length },
    }),
  },
  CollectionTransferStarted: {
    action: 'collection.transferred',
    label: 'Collection moved to another organization',
    facts: ({ to, collections }) => ({
      target: collection(collections[0]?.collectionId ?? ''),
      details: { to, collections: collections.length },
    }),
  },
  CollectionsReceived: {
    action: 'collection.received',
    label: 'Collection came from another organization',
    facts: ({ from, collections }) => ({
      target: collection(collections[0]?.collectionId ?? ''),
      details: { from, collections: collections.length },
    }),
  },
  CollectionsSent: moved,
};

/** What a comment says is not repeated here: it can be deleted, the audit cannot. */
export const commentRules: AuditRules<CommentEvent> = {
  CommentPosted: {
    action: 'comment.posted',
    label: 'Comment posted',
    facts: ({ spaceId, changeRequestId, target: { pageId } }) => ({ details: { spaceId, changeRequestId, pageId } }),
  },
  CommentEdited: {
    action: 'comment.edited',
    label: 'Comment edited',
    facts: ({ spaceId }) => ({ details: { spaceId } }),
  },
  CommentResolved: {
    action: 'comment.resolved',
    label: 'Comment resolved',
    facts: ({ spaceId }) => ({ values: { resolved: true }, details: { spaceId } }),
  },
  CommentReopened: {
    action: 'comment.reopened',
    label: 'Comment opened again',
    facts: ({ spaceId }) => ({ values: { resolved: false }, details: { spaceId } }),
  },
  CommentReactionsChanged: { skip: 'Reactions say nothing that anybody has to answer for.' },
  CommentDeleted: {
    action: 'comment.deleted',
    label: 'Comment deleted',
    facts: ({ spaceId, replies }) => ({ values: { deleted: true }, details: { spaceId, replies: replies.length } }),
  },
  CommentReplyPosted: {
    action: 'comment-reply.posted',
    label: 'Reply posted',
    facts: ({ spaceId, commentId, replyId }) => ({ target: reply(replyId), details: { spaceId, commentId } }),
  },
  CommentReplyEdited: {
    action: 'comment-reply.edited',
    label: 'Reply edited',
    facts: ({ spaceId, commentId, replyId }) => ({ target: reply(replyId), details: { spaceId, commentId } }),
  },
  CommentReplyReactionsChanged: { skip: 'Reactions say nothing that anybody has to answer for.' },
  CommentReplyDeleted: {
    action: 'comment-reply.deleted',
    label: 'Reply deleted',
    facts: ({ spaceId, commentId, replyId }) => ({
      target: reply(replyId),
      values: { deleted: true },
      details: { spaceId, commentId },
    }),
  },
};

export const grantRules: AuditRules<GrantEvent> = {
  AccessGranted: {
    action: 'access.granted',
    label: 'Access given',
    facts: ({ resource, resourceId, kind, subjectId, level }) => ({
      target: { type: resource, id: resourceId },
      values: { [`${kind} ${subjectId}`]: level },
      details: { kind, subject: subjectId },
    }),
  },
  AccessRevoked: {
    action: 'access.revoked',
    label: 'Access taken',
    facts: ({ resource, resourceId, kind, subjectId, reason }) => ({
      target: { type: resource, id: resourceId },
      values: { [`${kind} ${subjectId}`]: null },
      details: { kind, subject: subjectId, reason },
    }),
  },
};

const gitPart = { skip: 'A piece of the sync, whose end has an entry.' } as const;

/** Of a repository only where it is; credentials are in no event. */
export const gitRules: AuditRules<GitSyncEvent> = {
  GitSyncStarted: {
    action: 'git-sync.started',
    label: 'Git sync started',
    facts: ({ spaceId, operationId, direction, url, ref, directory, force, standalone }) => ({
      target: { type: 'space', id: spaceId },
      details: { operationId, direction, url, ref, directory, force, standalone },
    }),
  },
  GitPlacesChanged: gitPart,
  GitRevisionPartRecorded: gitPart,
  GitRevisionRecorded: gitPart,
  GitSyncCompleted: {
    action: 'git-sync.completed',
    label: 'Git sync completed',
    facts: ({ spaceId, operationId, direction, revisionId, commit, changed }) => ({
      target: { type: 'space', id: spaceId },
      details: { operationId, direction, revisionId, commit: commit.oid, changed },
    }),
  },
  GitSyncFailed: {
    action: 'git-sync.failed',
    label: 'Git sync failed',
    facts: ({ spaceId, operationId, direction, state, reason }) => ({
      target: { type: 'space', id: spaceId },
      details: { operationId, direction, state, reason },
    }),
  },
};
