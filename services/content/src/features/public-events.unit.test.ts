import { publicEvents } from '@bindery/contracts';
import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import type { ChangeRequestEvent } from './change-requests/index.ts';
import type { CollectionEvent } from './collections/index.ts';
import type { CommentBody, CommentEvent } from './comments/index.ts';
import type { GitSyncEvent } from './git/index.ts';
import type { OpenAPISpecEvent } from './openapi/index.ts';
import type { GrantEvent } from './permissions/index.ts';
import { contentPublicMapping } from './public-events.ts';
import type { RevisionChange } from './revisions/index.ts';
import type { SpaceEvent } from './spaces/index.ts';
import type { StorageUploadEvent } from './storage/index.ts';

const mapping = contentPublicMapping('content.space', 'content.changeRequest', 'content.comment');
const ids = { spaceId: 'space1', organizationId: 'org1' };
const at = '2026-03-01T12:00:00.000Z';
const secret = 'private words';

const recorded = (event: DomainEvent, stream: string): Recorded<DomainEvent> => ({
  id: '00000000-0000-4000-8000-000000000001',
  stream,
  revision: 0,
  position: 1,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    actor: { kind: 'user', id: 'u1' },
    schemaVersion: 1,
    time: at,
  },
  ...event,
});
const ofSpace = (event: SpaceEvent) => mapping(recorded(event, 'content.space-space1'));
const ofRequest = (event: ChangeRequestEvent) => mapping(recorded(event, 'content.changeRequest-cr1'));

const edited = (count: number): readonly RevisionChange[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'page_edited',
    pageId: `page${index}`,
    metadata: { title: secret, slug: secret },
    updatedAt: at,
  }));
const committed = (changes: readonly RevisionChange[], parts = 0): SpaceEvent => ({
  type: 'RevisionCommitted',
  data: {
    ...ids,
    revisionId: 'r2',
    revisionType: 'merge',
    parents: ['r1', 'r0'],
    parts,
    changes,
    documents: [{ id: 'd1', document: { object: 'document', data: { secret }, nodes: [] } }],
    mergedFrom: { changeRequestId: 'cr1', revisionId: 'r0' },
    createdBy: 'u1',
    createdAt: at,
  },
});
const request = { ...ids, changeRequestId: 'cr1' };

const comment = { ...ids, commentId: 'm1' };
const said: CommentBody = { document: { object: 'document', data: { secret }, nodes: [] }, markdown: secret };
const reply = { ...comment, changeRequestId: 'cr1', replyId: 'y1' };
const ofComments: readonly (readonly [string, CommentEvent])[] = [
  [
    'comment.posted',
    {
      type: 'CommentPosted',
      data: { ...comment, target: { revision: 'r1', pageId: 'p1' }, body: said, postedBy: 'u1', postedAt: at },
    },
  ],
  ['comment.edited', { type: 'CommentEdited', data: { ...comment, body: said, editedBy: 'u1', editedAt: at } }],
  ['comment.resolved', { type: 'CommentResolved', data: { ...comment, resolvedBy: 'u1', resolvedAt: at } }],
  ['comment.reopened', { type: 'CommentReopened', data: { ...comment, reopenedBy: 'u1', reopenedAt: at } }],
  [
    'comment.reactions-changed',
    {
      type: 'CommentReactionsChanged',
      data: { ...comment, added: ['👍'], removed: [], changedBy: 'u1', changedAt: at },
    },
  ],
  [
    'comment.deleted',
    { type: 'CommentDeleted', data: { ...comment, replies: ['y1'], deletedBy: 'u1', deletedAt: at } },
  ],
  [
    'comment-reply.posted',
    { type: 'CommentReplyPosted', data: { ...reply, number: 1, body: said, postedBy: 'u1', postedAt: at } },
  ],
  [
    'comment-reply.edited',
    { type: 'CommentReplyEdited', data: { ...reply, body: said, editedBy: 'u1', editedAt: at } },
  ],
  ['comment-reply.deleted', { type: 'CommentReplyDeleted', data: { ...reply, deletedBy: 'u1', deletedAt: at } }],
];

const inOrganization = { organizationId: 'org1', collectionId: 'c1' };
const sent = { collectionId: 'c1', title: secret, description: secret, parent: null, order: 'k' };
const ofCollections: readonly (readonly [string, CollectionEvent])[] = [
  [
    'collection.created',
    {
      type: 'CollectionCreated',
      data: { ...inOrganization, ...sent, defaultLevel: 'inherit', createdBy: 'u1', createdAt: at },
    },
  ],
  [
    'collection.changed',
    {
      type: 'CollectionChanged',
      data: { ...inOrganization, title: secret, description: secret, changedBy: 'u1', changedAt: at },
    },
  ],
  [
    'collection.moved',
    { type: 'CollectionMoved', data: { ...inOrganization, parent: 'c2', order: 'k', movedBy: 'u1', movedAt: at } },
  ],
  [
    'collection.deleted',
    {
      type: 'CollectionDeleted',
      data: {
        ...inOrganization,
        collections: [{ collectionId: 'c1', lastDefault: null }],
        deletedBy: 'u1',
        deletedAt: at,
      },
    },
  ],
  [
    'collection.transferred',
    {
      type: 'CollectionsSent',
      data: {
        organizationId: 'org1',
        transferId: 't1',
        to: 'org2',
        collectionIds: ['c1'],
        sentBy: 'u1',
        sentAt: at,
      },
    },
  ],
];
const grantIds = { resource: 'space', resourceId: 'space1', organizationId: 'org1', subjectId: 'u2' } as const;
const ofGrants: readonly (readonly [string, GrantEvent])[] = [
  [
    'access.granted',
    {
      type: 'AccessGranted',
      data: { ...grantIds, kind: 'user', level: 'edit', previousLevel: null, grantedBy: 'u1', grantedAt: at },
    },
  ],
  [
    'access.revoked',
    {
      type: 'AccessRevoked',
      data: {
        ...grantIds,
        kind: 'user',
        previousLevel: 'edit',
        reason: 'removed',
        revokedBy: 'u1',
        revokedAt: at,
      },
    },
  ],
];
const placed = { parent: 'c1', order: 'k' };

const operation = { ...ids, operationId: 'g1' };
const upload = { key: 'space1', organizationId: 'org1' };
const ofStorage: readonly (readonly [string, StorageUploadEvent])[] = [
  [
    'storage-file.uploaded',
    {
      type: 'StorageFileUploaded',
      data: {
        ...upload,
        ...{ kind: 'import_file', size: 1, uploadedBy: 'u1', uploadedAt: at, keptUntil: at },
        ...{ blob: secret, contentType: 'text/plain' },
      },
    },
  ],
  ['storage-file.purged', { type: 'StorageUploadPurged', data: { ...upload, purgedAt: at } }],
];
const ofGit: readonly (readonly [string, GitSyncEvent])[] = [
  [
    'git-sync.started',
    {
      type: 'GitSyncStarted',
      data: {
        ...operation,
        direction: 'import',
        url: `https://git.example.org/${secret}`,
        ref: secret,
        directory: secret,
        force: false,
        standalone: false,
        commitMessage: secret,
        provider: 'github',
        repoName: secret,
        hasCredentials: false,
        baseUrl: 'https://docs.example.org',
        startedBy: 'u1',
        startedAt: at,
        timeoutAt: at,
      },
    },
  ],
  [
    'git-sync.completed',
    {
      type: 'GitSyncCompleted',
      data: {
        ...operation,
        direction: 'export',
        revisionId: 'r1',
        commit: { oid: 'c1', message: secret, committedAt: at },
        changed: true,
        standalone: false,
        ref: secret,
        endedAt: at,
      },
    },
  ],
  [
    'git-sync.failed',
    {
      type: 'GitSyncFailed',
      data: { ...operation, direction: 'import', state: 'failure', reason: 'file', error: secret, endedAt: at },
    },
  ],
];

const spec = { organizationId: 'org1', specId: 'spec1', slug: 'petstore' };
const bytes = { sha256: secret, size: 9 };
const ofSpecs: readonly (readonly [string, OpenAPISpecEvent])[] = [
  [
    'openapi-spec.created',
    {
      type: 'OpenAPISpecCreated',
      data: { ...spec, source: { kind: 'url', url: `https://${secret}` }, createdBy: 'u1', createdAt: at },
    },
  ],
  [
    'openapi-spec.source-changed',
    {
      type: 'OpenAPISpecSourceChanged',
      data: { ...spec, source: { kind: 'text', ...bytes }, changedBy: 'u1', changedAt: at },
    },
  ],
  [
    'openapi-spec.settings-changed',
    { type: 'OpenAPISpecVisibilityChanged', data: { ...spec, visibility: 'public', changedBy: 'u1', changedAt: at } },
  ],
  [
    'openapi-spec.changed',
    {
      type: 'OpenAPISpecVersionAdded',
      data: {
        ...{ ...spec, versionId: 'v1', number: 1, raw: bytes, json: bytes, format: 'json', specVersion: '3.1.0' },
        ...{ contentHash: secret, source: { kind: 'text', ...bytes }, createdAt: at },
      },
    },
  ],
  [
    'openapi-spec.processing-failed',
    {
      type: 'OpenAPISpecProcessingFailed',
      data: { ...spec, runId: 'run1', code: 'PARSE_ERROR', errors: [{ message: secret }], processedAt: at },
    },
  ],
  [
    'openapi-spec.deleted',
    { type: 'OpenAPISpecDeleted', data: { ...spec, versions: [], deletedBy: 'u1', deletedAt: at } },
  ],
];

const samples: readonly (readonly [string, ReturnType<typeof mapping>])[] = [
  [
    'space.created',
    ofSpace({
      type: 'SpaceCreated',
      data: {
        ...ids,
        title: secret,
        visibility: 'private',
        defaultLevel: 'inherit',
        mergeRules: { type: 'inherit' },
        createdBy: 'u1',
        createdAt: at,
      },
    }),
  ],
  [
    'space.settings-changed',
    ofSpace({
      type: 'SpaceSettingsChanged',
      data: { ...ids, settings: { title: secret, emoji: null }, changedBy: 'u1', changedAt: at },
    }),
  ],
  [
    'space.deleted',
    ofSpace({ type: 'SpaceDeleted', data: { ...ids, deletedBy: 'u1', deletedAt: at, purgeAfter: at } }),
  ],
  ['space.restored', ofSpace({ type: 'SpaceRestored', data: { ...ids, restoredBy: 'u1', restoredAt: at } })],
  ['space.purged', ofSpace({ type: 'SpacePurged', data: { ...ids, purgedAt: at } })],
  ['revision.committed', ofSpace(committed(edited(3)))],
  [
    'change-request.opened',
    ofRequest({
      type: 'ChangeRequestOpened',
      data: {
        ...request,
        number: 1,
        subject: secret,
        status: 'open',
        revisionInitial: 'r1',
        createdBy: 'u1',
        createdAt: at,
      },
    }),
  ],
  [
    'change-request.described',
    ofRequest({
      type: 'ChangeRequestDescribed',
      data: { ...request, subject: secret, links: [], changedBy: 'u1', changedAt: at },
    }),
  ],
  [
    'change-request.status-changed',
    ofRequest({
      type: 'ChangeRequestStatusChanged',
      data: { ...request, from: 'draft', to: 'open', changedBy: 'u1', changedAt: at },
    }),
  ],
  [
    'change-request.edited',
    ofRequest({
      type: 'ChangeRequestEdited',
      data: {
        ...request,
        revisionId: 'r2',
        parent: 'r1',
        changes: edited(1),
        documents: [],
        editedBy: 'u1',
        editedAt: at,
      },
    }),
  ],
  [
    'change-request.updated',
    ofRequest({
      type: 'ChangeRequestUpdated',
      data: {
        ...request,
        revisionId: 'r2',
        parents: ['r1', 'r0'],
        primaryRevision: 'r0',
        changes: edited(1),
        documents: [],
        conflicts: [{ pageId: 'page1', field: 'title' }],
        updatedBy: 'u1',
        updatedAt: at,
      },
    }),
  ],
  [
    'change-request.merged',
    ofRequest({
      type: 'ChangeRequestMerged',
      data: { ...request, mergeId: 'r2', revisionMerged: 'r2', mergedBy: 'u1', mergedAt: at },
    }),
  ],
  [
    'change-request.reviewers-requested',
    ofRequest({
      type: 'ChangeRequestReviewersRequested',
      data: {
        ...{ ...request, revisionId: 'r1', reviewers: [{ kind: 'team', id: 't1' }] },
        ...{ requestedBy: 'u1', requestedAt: at },
      },
    }),
  ],
  [
    'change-request.reviewer-removed',
    ofRequest({
      type: 'ChangeRequestReviewerRemoved',
      data: { ...request, kind: 'user', id: 'u2', removedBy: 'u1', removedAt: at },
    }),
  ],
  [
    'change-request.reviewed',
    ofRequest({
      type: 'ChangeRequestReviewed',
      data: {
        ...{ ...request, reviewId: 'v1', revisionId: 'r1', status: 'approved', reviewer: 'u2', requestedBy: 'u1' },
        ...{ comment: { commentId: 'm1', body: said }, reviewedAt: at },
      },
    }),
  ],
  ['space.moved', ofSpace({ type: 'SpaceMoved', data: { ...ids, ...placed, movedBy: 'u1', movedAt: at } })],
  [
    'space.transferred',
    ofSpace({
      type: 'SpaceTransferred',
      data: { ...ids, from: 'org0', ...placed, transferredBy: 'u1', transferredAt: at },
    }),
  ],
  ...ofCollections.map(([name, event]) => [name, mapping(recorded(event, 'content.collections-org1'))] as const),
  ...ofGrants.map(([name, event]) => [name, mapping(recorded(event, 'content.grants-space1'))] as const),
  ...ofGit.map(([name, event]) => [name, mapping(recorded(event, 'content.gitSync-space1'))] as const),
  ...ofSpecs.map(([name, event]) => [name, mapping(recorded(event, 'content.openapiSpec-spec1'))] as const),
  ...ofStorage.map(([name, event]) => [name, mapping(recorded(event, 'content.storage-space1'))] as const),
  ...ofComments.map(([name, event]) => [name, mapping(recorded(event, 'content.comment-m1'))] as const),
];

describe('public events', () => {
  test.each(samples)('%s has its type, its key and nothing private', (name, events) => {
    expect(events).toHaveLength(1);
    expect(events[0]?.type).toBe(`bindery.content.${name}.v1`);
    const subjects = {
      'change-request': 'cr1',
      collection: 'c1',
      comment: 'm1',
      'comment-reply': 'm1',
      'openapi-spec': 'spec1',
    } as const;
    const [thing] = name.split('.');
    expect(events[0]?.subject).toBe(subjects[thing as keyof typeof subjects] ?? 'space1');
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test('every event of the catalogue is said by something', () => {
    const declared = [...publicEvents.values()].filter(({ owner }) => owner === 'content').map(({ type }) => type);
    expect(samples.map(([, [event]]) => event?.type ?? '').sort()).toEqual([...declared].sort());
  });

  test('a large revision lists a hundred pages and says that there are more', () => {
    const [large] = ofSpace(committed(edited(150)));
    expect(large?.data.pages).toHaveLength(100);
    expect(large?.data.complete).toBe(false);
    expect(ofSpace(committed(edited(100)))[0]?.data.complete).toBe(true);
    expect(ofSpace(committed([], 3))[0]?.data.complete).toBe(false);
  });

  test('steps that mean nothing outside are not told', () => {
    const silent: readonly SpaceEvent[] = [
      { type: 'MergeAbandoned', data: { spaceId: 'space1', changeRequestId: 'cr1', mergeId: 'r2', abandonedAt: at } },
      {
        type: 'RevisionPartRecorded',
        data: { spaceId: 'space1', revisionId: 'r2', part: 0, changes: edited(1), documents: [] },
      },
    ];
    expect(silent.flatMap(ofSpace)).toEqual([]);
    expect(mapping(recorded({ type: 'SpaceDeleted', data: {} }, 'content.other-1'))).toEqual([]);
    const purged = { ...comment, replies: [], deletedBy: 'content', deletedAt: at, purged: true };
    expect(mapping(recorded({ type: 'CommentDeleted', data: purged }, 'content.comment-m1'))).toEqual([]);
  });
});
