import { type AuditRules, auditRules } from '@bindery/audit';
import type { ChangeRequestEvent } from '../change-requests/index.ts';
import type { SpaceEvent } from '../spaces/index.ts';
import { importRunRules } from './rules-imports.ts';
import { openapiRules } from './rules-openapi.ts';
import { collectionRules, commentRules, gitRules, grantRules } from './rules-together.ts';
import { storageRules } from './rules-transfers.ts';

const part = { skip: 'A piece of the event that follows in the same append, which has the entry.' } as const;

const personOf = (id: string) => ({ kind: id.startsWith('service:') ? 'service' : 'user', id }) as const;

const spaces: AuditRules<SpaceEvent> = {
  SpaceCreated: {
    action: 'space.created',
    label: 'Space created',
    facts: ({ title, emoji, icon, visibility, defaultLevel, editMode, language, mergeRules, parent, duplicateOf }) => ({
      values: { title, emoji, icon, visibility, defaultLevel, editMode, language, mergeRules, parent },
      ...(duplicateOf === undefined ? {} : { details: { duplicateOf } }),
    }),
  },
  SpaceSettingsChanged: {
    action: 'space.settings-changed',
    label: 'Settings of a space changed',
    facts: ({ settings }) => ({ values: { ...settings } }),
  },
  SpaceDeleted: {
    action: 'space.deleted',
    label: 'Space moved to the trash',
    facts: ({ purgeAfter }) => ({ values: { deleted: true }, details: { purgeAfter } }),
  },
  SpaceRestored: {
    action: 'space.restored',
    label: 'Space restored',
    facts: () => ({ values: { deleted: false } }),
  },
  SpaceMoved: {
    action: 'space.moved',
    label: 'Space moved',
    facts: ({ parent, visibility }) => ({ values: { parent, visibility } }),
  },
  SpaceTransferred: {
    action: 'space.transferred',
    label: 'Space moved to another organization',
    facts: ({ parent, visibility, from, organizationId }) => ({
      values: { parent, visibility, organization: organizationId },
      details: { from },
    }),
  },
  SpacePurged: { action: 'space.purged', label: 'Space removed for good', facts: () => ({ values: { purged: true } }) },
  SpaceContentPurged: { skip: 'What follows from the purge of the space, which has the entry.' },
  ChangeRequestNumbered: {
    action: 'change-request.created',
    label: 'Change request created',
    facts: ({ spaceId, changeRequestId, number, subject, status }) => ({
      target: { type: 'change-request', id: changeRequestId },
      begins: true,
      values: { number, subject, status },
      details: { spaceId },
    }),
  },
  RevisionPartRecorded: part,
  RevisionCommitted: {
    action: 'space.content-changed',
    label: 'Content of a space changed',
    facts: ({ revisionId, revisionType, parents, changes, parts, mergedFrom, createdBy }) => ({
      actor: personOf(createdBy),
      values: { revision: revisionId },
      details: { type: revisionType, parents: parents.length, changes: changes.length, parts, mergedFrom },
    }),
  },
  MergeAbandoned: { action: 'space.merge-abandoned', label: 'Merge given up' },
};

const changeRequests: AuditRules<ChangeRequestEvent> = {
  ChangeRequestOpened: { skip: 'Follows from its number, which has the entry; whoever completes it is not who asked.' },
  ChangeRequestDescribed: {
    action: 'change-request.described',
    label: 'Change request described',
    facts: ({ spaceId, subject, description, links }) => ({
      values: { subject, description, links },
      details: { spaceId },
    }),
  },
  ChangeRequestStatusChanged: {
    action: 'change-request.status-changed',
    label: 'Status of a change request changed',
    facts: ({ spaceId, to }) => ({ values: { status: to }, details: { spaceId } }),
  },
  ChangeRequestPartRecorded: part,
  ChangeRequestEdited: {
    action: 'change-request.edited',
    label: 'Content of a change request changed',
    facts: ({ spaceId, revisionId, changes, parts, settled }) => ({
      values: { revision: revisionId },
      details: { spaceId, changes: changes.length, parts, settled },
    }),
  },
  ChangeRequestConflictsSettled: {
    action: 'change-request.conflicts-settled',
    label: 'Conflicts settled',
    facts: ({ spaceId, settled }) => ({ details: { spaceId, settled } }),
  },
  ChangeRequestUpdated: {
    action: 'change-request.updated',
    label: 'Change request brought up to date',
    facts: ({ spaceId, revisionId, primaryRevision, conflicts }) => ({
      values: { revision: revisionId },
      details: { spaceId, primaryRevision, conflicts: conflicts.length },
    }),
  },
  ChangeRequestReviewersRequested: {
    action: 'change-request.reviewers-requested',
    label: 'Reviews asked for',
    facts: ({ spaceId, reviewers, revisionId }) => ({ details: { spaceId, reviewers, revision: revisionId } }),
  },
  ChangeRequestReviewerRemoved: {
    action: 'change-request.reviewer-removed',
    label: 'Reviewer removed',
    facts: ({ spaceId, kind, id }) => ({ details: { spaceId, reviewer: { kind, id } } }),
  },
  ChangeRequestReviewed: {
    action: 'change-request.reviewed',
    label: 'Change request reviewed',
    facts: ({ spaceId, reviewId, revisionId, status }) => ({
      details: { spaceId, review: reviewId, revision: revisionId, status },
    }),
  },
  ChangeRequestMergeStarted: { skip: 'Begins a merge, whose end has an entry: merged, or given up.' },
  ChangeRequestMergeAbandoned: {
    action: 'change-request.merge-abandoned',
    label: 'Merge of a change request given up',
    facts: ({ spaceId }) => ({ details: { spaceId } }),
  },
  ChangeRequestMerged: {
    action: 'change-request.merged',
    label: 'Change request merged',
    facts: ({ spaceId, revisionMerged, mergeId, mergedBy, bypassed }) => ({
      // A merge may be completed by the service, after a crash for instance; who asked for it did it.
      actor: personOf(mergedBy),
      values: { status: 'merged' },
      details: { spaceId, revisionMerged, revision: mergeId, ...(bypassed === undefined ? {} : { bypassed }) },
    }),
  },
};

/** How every event of content stands in the audit. */
export const contentAuditRules = auditRules(
  spaces,
  changeRequests,
  collectionRules,
  commentRules,
  grantRules,
  gitRules,
  openapiRules,
  storageRules,
  importRunRules,
);
