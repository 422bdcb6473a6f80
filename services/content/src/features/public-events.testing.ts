import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import type { ChangeRequestEvent } from './change-requests/index.ts';
import type { CommentBody } from './comments/index.ts';
import { contentPublicMapping } from './public-events.ts';
import type { RevisionChange } from './revisions/index.ts';
import type { SpaceEvent } from './spaces/index.ts';

/** The mapping of the content service. */
export const mapping = contentPublicMapping('content.space', 'content.changeRequest', 'content.comment');
/** Whose events the samples are. */
export const ids = { spaceId: 'space1', organizationId: 'org1' };
/** When all of it happened. */
export const at = '2026-03-01T12:00:00.000Z';
/** Stands for everything that must not be told outside. */
export const secret = 'private words';

/** An event as it is read from a stream. */
export const recorded = (event: DomainEvent, stream: string): Recorded<DomainEvent> => ({
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
/** What is told of an event of a space. */
export const ofSpace = (event: SpaceEvent) => mapping(recorded(event, 'content.space-space1'));
const ofRequest = (event: ChangeRequestEvent) => mapping(recorded(event, 'content.changeRequest-cr1'));

/** Changes of so many pages. */
export const edited = (count: number): readonly RevisionChange[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'page_edited',
    pageId: `page${index}`,
    metadata: { title: secret, slug: secret },
    updatedAt: at,
  }));
/** A revision with these changes. */
export const committed = (changes: readonly RevisionChange[], parts = 0): SpaceEvent => ({
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

/** A public event by its name, and what is told of the event that it comes from. */
export type Sample = readonly [string, ReturnType<typeof mapping>];

/** A text that somebody wrote. */
export const said: CommentBody = { document: { object: 'document', data: { secret }, nodes: [] }, markdown: secret };
const placed = { parent: 'c1', order: 'k' };

/** One of each public event of spaces and change requests. */
export const spaceSamples: readonly Sample[] = [
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
];
