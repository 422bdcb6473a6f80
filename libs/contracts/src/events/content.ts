import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, words } from '../kit/schema.ts';

// Titles, subjects, paths and bodies are private: consumers read them through the API, as somebody who may.

const optional = Type.Optional;
const status = words(['draft', 'open', 'archived', 'merged']);
const inSpace = { spaceId: Id(), organizationId: Id() };
const inChangeRequest = { ...inSpace, changeRequestId: Id() };

const space = { spaceId: 's1pQz7LkVw0RyB5nEt8X', organizationId: 'o9Fj3sNc7PdHa1TgK6vW' };
const changeRequest = { ...space, changeRequestId: 'c5Xm2tUq8JhDf4YaZ7rK' };
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const revision = 'r3Bn6gWs0EoLi5VcM9pT';
const parent = 'r8Yk1dHv4AuXj7CzN2qF';
const at = '2026-01-31T09:30:00.000Z';

const spaceCreated = publicEvent({
  type: 'bindery.content.space.created.v1',
  owner: 'content',
  summary: 'A space was created.',
  data: closed({ ...inSpace, duplicateOf: optional(Id()), createdBy: Id(), createdAt: DateTime }),
  samples: [
    { ...space, createdBy: user, createdAt: at },
    { ...space, duplicateOf: space.spaceId, createdBy: user, createdAt: at },
  ],
});

const spaceSettingsChanged = publicEvent({
  type: 'bindery.content.space.settings-changed.v1',
  owner: 'content',
  summary: 'Settings of a space changed.',
  description: '`settings` names what changed; the values are read through the API.',
  data: closed({ ...inSpace, settings: Type.Array(Type.String()), changedBy: Id(), changedAt: DateTime }),
  samples: [{ ...space, settings: ['title', 'editMode'], changedBy: user, changedAt: at }],
});

const spaceDeleted = publicEvent({
  type: 'bindery.content.space.deleted.v1',
  owner: 'content',
  summary: 'A space was deleted; it can be restored until it is purged.',
  data: closed({ ...inSpace, deletedBy: Id(), deletedAt: DateTime, purgeAfter: DateTime }),
  samples: [{ ...space, deletedBy: user, deletedAt: at, purgeAfter: '2026-02-07T09:30:00.000Z' }],
});

const spaceRestored = publicEvent({
  type: 'bindery.content.space.restored.v1',
  owner: 'content',
  summary: 'A deleted space was restored.',
  data: closed({ ...inSpace, restoredBy: Id(), restoredAt: DateTime }),
  samples: [{ ...space, restoredBy: user, restoredAt: at }],
});

const spacePurged = publicEvent({
  type: 'bindery.content.space.purged.v1',
  owner: 'content',
  summary: 'A deleted space is gone for good.',
  data: closed({ ...inSpace, purgedAt: DateTime }),
  samples: [{ ...space, purgedAt: at }],
});

const revisionCommitted = publicEvent({
  type: 'bindery.content.revision.committed.v1',
  owner: 'content',
  summary: 'The primary content of a space has a new revision.',
  description: '`pages` lists at most 100 changes; `complete` is false when there were more.',
  data: closed({
    ...inSpace,
    revisionId: Id(),
    type: words(['edits', 'merge', 'rollback', 'update', 'computed']),
    parents: Type.Array(Id()),
    mergedFrom: optional(closed({ changeRequestId: Id(), revisionId: Id() })),
    pages: Type.Array(closed({ pageId: Id(), change: words(['inserted', 'edited', 'moved', 'deleted']) }), {
      maxItems: 100,
    }),
    complete: Type.Boolean(),
    createdBy: Id(),
    createdAt: DateTime,
  }),
  samples: [
    {
      ...space,
      revisionId: revision,
      type: 'merge',
      parents: [parent],
      mergedFrom: { changeRequestId: changeRequest.changeRequestId, revisionId: parent },
      pages: [{ pageId: 'p2Wd9eRf6TgYh3UjI7ok', change: 'edited' }],
      complete: true,
      createdBy: user,
      createdAt: at,
    },
  ],
});

const changeRequestOpened = publicEvent({
  type: 'bindery.content.change-request.opened.v1',
  owner: 'content',
  summary: 'A change request was opened.',
  data: closed({
    ...inChangeRequest,
    number: Type.Integer({ minimum: 1 }),
    status: words(['draft', 'open']),
    revisionInitial: Id(),
    createdBy: Id(),
    createdAt: DateTime,
  }),
  samples: [
    { ...changeRequest, number: 7, status: 'draft', revisionInitial: revision, createdBy: user, createdAt: at },
  ],
});

const changeRequestDescribed = publicEvent({
  type: 'bindery.content.change-request.described.v1',
  owner: 'content',
  summary: 'Subject, description or links of a change request changed.',
  data: closed({
    ...inChangeRequest,
    fields: Type.Array(words(['subject', 'description', 'links'])),
    changedBy: Id(),
    changedAt: DateTime,
  }),
  samples: [{ ...changeRequest, fields: ['subject'], changedBy: user, changedAt: at }],
});

const changeRequestStatusChanged = publicEvent({
  type: 'bindery.content.change-request.status-changed.v1',
  owner: 'content',
  summary: 'A change request has another status.',
  data: closed({ ...inChangeRequest, from: status, to: status, changedBy: Id(), changedAt: DateTime }),
  samples: [{ ...changeRequest, from: 'draft', to: 'open', changedBy: user, changedAt: at }],
});

const changeRequestEdited = publicEvent({
  type: 'bindery.content.change-request.edited.v1',
  owner: 'content',
  summary: 'The content of a change request has a new revision.',
  data: closed({ ...inChangeRequest, revisionId: Id(), parent: Id(), editedBy: Id(), editedAt: DateTime }),
  samples: [{ ...changeRequest, revisionId: revision, parent, editedBy: user, editedAt: at }],
});

const changeRequestUpdated = publicEvent({
  type: 'bindery.content.change-request.updated.v1',
  owner: 'content',
  summary: 'Primary content was merged into a change request.',
  data: closed({
    ...inChangeRequest,
    revisionId: Id(),
    primaryRevision: Id(),
    conflicts: Type.Integer({ minimum: 0, description: 'Parts that both sides changed.' }),
    updatedBy: Id(),
    updatedAt: DateTime,
  }),
  samples: [
    { ...changeRequest, revisionId: revision, primaryRevision: parent, conflicts: 0, updatedBy: user, updatedAt: at },
  ],
});

const changeRequestMerged = publicEvent({
  type: 'bindery.content.change-request.merged.v1',
  owner: 'content',
  summary: 'A change request was merged into the primary content.',
  description: '`bypassed` names merge rules that were not met, when a rule let the merging user do so.',
  data: closed({
    ...inChangeRequest,
    revisionMerged: Id(),
    mergedBy: Id(),
    mergedAt: DateTime,
    bypassed: optional(Type.Array(Type.String())),
  }),
  samples: [{ ...changeRequest, revisionMerged: revision, mergedBy: user, mergedAt: at }],
});

const comment = { ...space, commentId: 'm7Rt4vWx2LkQs9HpZ6cD' };
const commentIds = { ...inSpace, commentId: Id(), changeRequestId: optional(Id()) };

const commentPosted = publicEvent({
  type: 'bindery.content.comment.posted.v1',
  owner: 'content',
  summary: 'A comment was posted on a space or a change request.',
  description: 'What it says is read through the API.',
  data: closed({
    ...commentIds,
    revisionId: Id(),
    pageId: optional(Id()),
    reviewId: optional(Id()),
    postedBy: Id(),
    postedAt: DateTime,
  }),
  samples: [
    { ...comment, revisionId: revision, postedBy: user, postedAt: at },
    {
      ...comment,
      changeRequestId: changeRequest.changeRequestId,
      revisionId: revision,
      pageId: 'p2Wd9eRf6TgYh3UjI7ok',
      postedBy: user,
      postedAt: at,
    },
  ],
});

const commentEdited = publicEvent({
  type: 'bindery.content.comment.edited.v1',
  owner: 'content',
  summary: 'A comment says something else.',
  data: closed({ ...commentIds, editedBy: Id(), editedAt: DateTime }),
  samples: [{ ...comment, editedBy: user, editedAt: at }],
});

const commentResolved = publicEvent({
  type: 'bindery.content.comment.resolved.v1',
  owner: 'content',
  summary: 'A comment was resolved.',
  data: closed({ ...commentIds, resolvedBy: Id(), resolvedAt: DateTime }),
  samples: [{ ...comment, resolvedBy: user, resolvedAt: at }],
});

const commentReopened = publicEvent({
  type: 'bindery.content.comment.reopened.v1',
  owner: 'content',
  summary: 'A resolved comment is open again.',
  data: closed({ ...commentIds, reopenedBy: Id(), reopenedAt: DateTime }),
  samples: [{ ...comment, reopenedBy: user, reopenedAt: at }],
});

const commentReactionsChanged = publicEvent({
  type: 'bindery.content.comment.reactions-changed.v1',
  owner: 'content',
  summary: 'Somebody reacted to a comment or reply, or took a reaction back.',
  data: closed({
    ...commentIds,
    commentReplyId: optional(Id()),
    added: Type.Array(Type.String()),
    removed: Type.Array(Type.String()),
    changedBy: Id(),
    changedAt: DateTime,
  }),
  samples: [{ ...comment, added: ['👍'], removed: [], changedBy: user, changedAt: at }],
});

const commentDeleted = publicEvent({
  type: 'bindery.content.comment.deleted.v1',
  owner: 'content',
  summary: 'A comment and its replies were deleted.',
  data: closed({ ...commentIds, deletedBy: Id(), deletedAt: DateTime }),
  samples: [{ ...comment, deletedBy: user, deletedAt: at }],
});

const reply = { ...comment, commentReplyId: 'y3Kb8nTz5WqFj1XcV6mL' };
const replyIds = { ...commentIds, commentReplyId: Id() };

const commentReplyPosted = publicEvent({
  type: 'bindery.content.comment-reply.posted.v1',
  owner: 'content',
  summary: 'Somebody replied to a comment.',
  data: closed({ ...replyIds, postedBy: Id(), postedAt: DateTime }),
  samples: [{ ...reply, postedBy: user, postedAt: at }],
});

const commentReplyEdited = publicEvent({
  type: 'bindery.content.comment-reply.edited.v1',
  owner: 'content',
  summary: 'A reply says something else.',
  data: closed({ ...replyIds, editedBy: Id(), editedAt: DateTime }),
  samples: [{ ...reply, editedBy: user, editedAt: at }],
});

const commentReplyDeleted = publicEvent({
  type: 'bindery.content.comment-reply.deleted.v1',
  owner: 'content',
  summary: 'A reply was deleted.',
  data: closed({ ...replyIds, deletedBy: Id(), deletedAt: DateTime }),
  samples: [{ ...reply, deletedBy: user, deletedAt: at }],
});

const gitSync = { ...inSpace, operationId: Id(), direction: words(['export', 'import']) };
const gitSyncSample = { ...space, operationId: 'g7Kd2wQm9XvLs4TbR6yZ' };

const gitSyncStarted = publicEvent({
  type: 'bindery.content.git-sync.started.v1',
  owner: 'content',
  summary: 'An import from or export to a git repository began.',
  data: closed({ ...gitSync, startedBy: Id(), startedAt: DateTime }),
  samples: [{ ...gitSyncSample, direction: 'import', startedBy: user, startedAt: at }],
});

const gitSyncCompleted = publicEvent({
  type: 'bindery.content.git-sync.completed.v1',
  owner: 'content',
  summary: 'An import from or export to a git repository is done.',
  description:
    '`changed` is false when both sides said the same already. `standalone`: the primary content was not touched.',
  data: closed({
    ...gitSync,
    revisionId: Id(),
    commitId: Type.String(),
    changed: Type.Boolean(),
    standalone: Type.Boolean(),
    endedAt: DateTime,
  }),
  samples: [
    {
      ...gitSyncSample,
      direction: 'export',
      revisionId: revision,
      commitId: '5f0c3a0d7a1f6f2f2c9d6a3f2e4b1c0d9e8f7a6b',
      changed: true,
      standalone: false,
      endedAt: at,
    },
  ],
});

const gitSyncFailed = publicEvent({
  type: 'bindery.content.git-sync.failed.v1',
  owner: 'content',
  summary: 'An import from or export to a git repository failed; the content is as it was.',
  description: '`reason` is a word for machines; what happened in words is read through the API.',
  data: closed({ ...gitSync, state: words(['failure', 'timeout']), reason: Type.String(), endedAt: DateTime }),
  samples: [{ ...gitSyncSample, direction: 'import', state: 'failure', reason: 'not-found', endedAt: at }],
});

/** What the content service tells the others (DESIGN section 5). */
export const contentEvents = {
  spaceCreated,
  spaceSettingsChanged,
  spaceDeleted,
  spaceRestored,
  spacePurged,
  revisionCommitted,
  changeRequestOpened,
  changeRequestDescribed,
  changeRequestStatusChanged,
  changeRequestEdited,
  changeRequestUpdated,
  changeRequestMerged,
  commentPosted,
  commentEdited,
  commentResolved,
  commentReopened,
  commentReactionsChanged,
  commentDeleted,
  commentReplyPosted,
  commentReplyEdited,
  commentReplyDeleted,
  gitSyncStarted,
  gitSyncCompleted,
  gitSyncFailed,
};
