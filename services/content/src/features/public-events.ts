import { contentAccessEvents, contentEvents } from '@bindery/contracts';
import type { DomainEvent, PublicEvent, PublicMapping, Recorded } from '@bindery/event-sourcing';
import { say } from '../shared/say.ts';
import type { ChangeRequestEvent } from './change-requests/index.ts';
import { type CollectionEvent, collectionPublicEvents, collectionsAggregate } from './collections/index.ts';
import { type CommentEvent, commentPublicEvents } from './comments/index.ts';
import { type GitSyncEvent, gitPublicEvents, gitSyncAggregate } from './git/index.ts';
import { type ImportRunEvent, importRunAggregate, importRunPublicEvents } from './import-runs/index.ts';
import { type OpenAPISpecEvent, openapiSpecAggregate, openapiSpecPublicEvents } from './openapi/index.ts';
import { type GrantEvent, grantPublicEvents, grantsAggregate } from './permissions/index.ts';
import { reviewPublicEvents } from './reviews/index.ts';
import type { RevisionChange } from './revisions/index.ts';
import type { SpaceEvent } from './spaces/index.ts';
import { type StorageUploadEvent, storagePublicEvents, storageUploadAggregate } from './storage/index.ts';

/** Changes of pages that one event lists. */
const maxListedPages = 100;

const changeNames = {
  page_inserted: 'inserted',
  page_edited: 'edited',
  page_moved: 'moved',
  page_deleted: 'deleted',
} as const;
type PageChange = { pageId: string; change: (typeof changeNames)[keyof typeof changeNames] };

const pageChange = (change: RevisionChange): readonly PageChange[] => {
  switch (change.kind) {
    case 'page_inserted':
      return [{ pageId: change.page.id, change: 'inserted' }];
    case 'page_edited':
    case 'page_moved':
    case 'page_deleted':
      return [{ pageId: change.pageId, change: changeNames[change.kind] }];
    default:
      return [];
  }
};

const ofSpace = (event: SpaceEvent): readonly PublicEvent[] => {
  switch (event.type) {
    case 'SpaceCreated': {
      const { spaceId, organizationId, duplicateOf, createdBy, createdAt } = event.data;
      const copy = duplicateOf === undefined ? {} : { duplicateOf };
      return say(contentEvents.spaceCreated, spaceId, { spaceId, organizationId, ...copy, createdBy, createdAt });
    }
    case 'SpaceSettingsChanged': {
      const { spaceId, organizationId, settings, changedBy, changedAt } = event.data;
      const names = Object.keys(settings).sort();
      const facts = { spaceId, organizationId, settings: names, changedBy, changedAt };
      return say(contentEvents.spaceSettingsChanged, spaceId, facts);
    }
    case 'SpaceMoved': {
      const { spaceId, organizationId, parent, movedBy, movedAt } = event.data;
      return say(contentAccessEvents.spaceMoved, spaceId, { organizationId, spaceId, parent, movedBy, movedAt });
    }
    case 'SpaceTransferred': {
      const { spaceId, organizationId, from, parent, transferredBy, transferredAt } = event.data;
      const facts = { organizationId, from, spaceId, parent, transferredBy, transferredAt };
      return say(contentAccessEvents.spaceTransferred, spaceId, facts);
    }
    case 'SpaceDeleted': {
      const { spaceId, organizationId, deletedBy, deletedAt, purgeAfter } = event.data;
      return say(contentEvents.spaceDeleted, spaceId, { spaceId, organizationId, deletedBy, deletedAt, purgeAfter });
    }
    case 'SpaceRestored': {
      const { spaceId, organizationId, restoredBy, restoredAt } = event.data;
      return say(contentEvents.spaceRestored, spaceId, { spaceId, organizationId, restoredBy, restoredAt });
    }
    case 'SpacePurged': {
      const { spaceId, organizationId, purgedAt } = event.data;
      return say(contentEvents.spacePurged, spaceId, { spaceId, organizationId, purgedAt });
    }
    case 'RevisionCommitted':
      return committed(event.data);
    default:
      return [];
  }
};

const committed = (data: Extract<SpaceEvent, { type: 'RevisionCommitted' }>['data']): readonly PublicEvent[] => {
  const { spaceId, organizationId, revisionId, revisionType, parents, mergedFrom, createdBy, createdAt } = data;
  const pages = data.changes.flatMap(pageChange);
  return say(contentEvents.revisionCommitted, spaceId, {
    spaceId,
    organizationId,
    revisionId,
    type: revisionType,
    parents: [...parents],
    ...(mergedFrom
      ? { mergedFrom: { changeRequestId: mergedFrom.changeRequestId, revisionId: mergedFrom.revisionId } }
      : {}),
    pages: pages.slice(0, maxListedPages),
    // Changes that stand in parts of their own are not listed.
    complete: data.parts === 0 && pages.length <= maxListedPages,
    createdBy,
    createdAt,
  });
};

const ofChangeRequest = (event: ChangeRequestEvent): readonly PublicEvent[] => {
  const { spaceId, organizationId, changeRequestId } = event.data;
  const ids = { spaceId, organizationId, changeRequestId };
  switch (event.type) {
    case 'ChangeRequestOpened': {
      const { number, status, revisionInitial, createdBy, createdAt } = event.data;
      const facts = { ...ids, number, status, revisionInitial, createdBy, createdAt };
      return say(contentEvents.changeRequestOpened, changeRequestId, facts);
    }
    case 'ChangeRequestDescribed': {
      const { changedBy, changedAt } = event.data;
      const fields = (['subject', 'description', 'links'] as const).filter((name) => event.data[name] !== undefined);
      return say(contentEvents.changeRequestDescribed, changeRequestId, { ...ids, fields, changedBy, changedAt });
    }
    case 'ChangeRequestStatusChanged': {
      const { from, to, changedBy, changedAt } = event.data;
      return say(contentEvents.changeRequestStatusChanged, changeRequestId, { ...ids, from, to, changedBy, changedAt });
    }
    case 'ChangeRequestEdited': {
      const { revisionId, parent, editedBy, editedAt } = event.data;
      return say(contentEvents.changeRequestEdited, changeRequestId, {
        ...ids,
        revisionId,
        parent,
        editedBy,
        editedAt,
      });
    }
    case 'ChangeRequestUpdated': {
      const { revisionId, primaryRevision, updatedBy, updatedAt } = event.data;
      const conflicts = event.data.conflicts.length;
      const facts = { ...ids, revisionId, primaryRevision, conflicts, updatedBy, updatedAt };
      return say(contentEvents.changeRequestUpdated, changeRequestId, facts);
    }
    case 'ChangeRequestMerged': {
      const { revisionMerged, mergedBy, mergedAt, bypassed } = event.data;
      const facts = { ...ids, revisionMerged, mergedBy, mergedAt, ...(bypassed ? { bypassed: [...bypassed] } : {}) };
      return say(contentEvents.changeRequestMerged, changeRequestId, facts);
    }
    default:
      return reviewPublicEvents(event);
  }
};

const isOf = <E extends DomainEvent>(event: Recorded<DomainEvent>, aggregate: string): event is Recorded<E> =>
  event.stream.startsWith(`${aggregate}-`);

/** What of the service's own events others hear about. The parameters are the names of the aggregates. */
export const contentPublicMapping =
  (spaceAggregate: string, changeRequestAggregate: string, commentAggregate: string): PublicMapping =>
  (event) => {
    if (isOf<SpaceEvent>(event, spaceAggregate)) return ofSpace(event);
    if (isOf<ChangeRequestEvent>(event, changeRequestAggregate)) return ofChangeRequest(event);
    if (isOf<CollectionEvent>(event, collectionsAggregate.name)) return collectionPublicEvents(event);
    if (isOf<GrantEvent>(event, grantsAggregate.name)) return grantPublicEvents(event);
    if (isOf<CommentEvent>(event, commentAggregate)) return commentPublicEvents(event);
    if (isOf<GitSyncEvent>(event, gitSyncAggregate.name)) return gitPublicEvents(event);
    if (isOf<OpenAPISpecEvent>(event, openapiSpecAggregate.name)) return openapiSpecPublicEvents(event);
    if (isOf<StorageUploadEvent>(event, storageUploadAggregate.name)) return storagePublicEvents(event);
    if (isOf<ImportRunEvent>(event, importRunAggregate.name)) return importRunPublicEvents(event);
    return [];
  };
