import type { CollectionEvent } from './collections/index.ts';
import type { CommentEvent } from './comments/index.ts';
import type { GitSyncEvent } from './git/index.ts';
import type { ImportRunEvent } from './import-runs/index.ts';
import type { OpenAPISpecEvent } from './openapi/index.ts';
import type { GrantEvent } from './permissions/index.ts';
import { at, ids, mapping, recorded, type Sample, said, secret } from './public-events.testing.ts';
import type { StorageUploadEvent } from './storage/index.ts';

/** What names a comment. */
export const comment = { ...ids, commentId: 'm1' };
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
const importRun = { ...ids, importRunId: 'space1' };
const ofImports: readonly (readonly [string, ImportRunEvent])[] = [
  [
    'import-run.started',
    {
      type: 'ImportRunRequested',
      data: {
        ...importRun,
        ...{ source: { type: 'website', url: `https://example.org/${secret}` }, enhance: true },
        ...{ baseUrl: 'https://docs.example.org', requestedBy: 'u1', requestedAt: at, timeoutAt: at },
      },
    },
  ],
  [
    'import-run.completed',
    {
      type: 'ImportRunCompleted',
      data: {
        ...{ ...importRun, changeRequestId: 'cr1', revisionId: 'r1', merged: true, failed: 1 },
        ...{ pages: [{ id: 'page1', type: 'page' }], reason: secret, completedAt: at },
      },
    },
  ],
  [
    'import-run.failed',
    { type: 'ImportRunFailed', data: { ...importRun, code: 'nothing', reason: secret, failedAt: at } },
  ],
  ['import-run.cancelled', { type: 'ImportRunCancelled', data: { ...importRun, cancelledBy: 'u1', cancelledAt: at } }],
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

/** One of each public event of what is in a space or beside it. */
export const partSamples: readonly Sample[] = [
  ...ofCollections.map(([name, event]) => [name, mapping(recorded(event, 'content.collections-org1'))] as const),
  ...ofGrants.map(([name, event]) => [name, mapping(recorded(event, 'content.grants-space1'))] as const),
  ...ofGit.map(([name, event]) => [name, mapping(recorded(event, 'content.gitSync-space1'))] as const),
  ...ofSpecs.map(([name, event]) => [name, mapping(recorded(event, 'content.openapiSpec-spec1'))] as const),
  ...ofStorage.map(([name, event]) => [name, mapping(recorded(event, 'content.storage-space1'))] as const),
  ...ofImports.map(([name, event]) => [name, mapping(recorded(event, 'content.importRun-space1'))] as const),
  ...ofComments.map(([name, event]) => [name, mapping(recorded(event, 'content.comment-m1'))] as const),
];
