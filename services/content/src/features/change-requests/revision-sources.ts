import type { DomainEvent, Recorded } from '@bindery/event-sourcing';
import type { PurgedContent, RevisionPiece, RevisionSource } from '../revisions/index.ts';
import { type SpaceEvent, spaceAggregate } from '../spaces/index.ts';
import { changeRequestAggregate } from './aggregate.ts';
import type { ChangeRequestEvent } from './events.ts';

const ofSpace = (event: SpaceEvent): RevisionPiece | undefined => {
  if (event.type === 'RevisionPartRecorded') return event.data;
  if (event.type !== 'RevisionCommitted') return undefined;
  const { revisionId, revisionType, mergedFrom, changes, documents, parts, ...rest } = event.data;
  const { spaceId, organizationId, parents, createdBy, createdAt } = rest;
  return {
    spaceId,
    changes,
    documents,
    parts,
    info: {
      id: revisionId,
      spaceId,
      organizationId,
      type: revisionType,
      parents,
      ...(mergedFrom === undefined ? {} : { mergedFrom: mergedFrom.changeRequestId }),
      createdBy,
      createdAt,
    },
  };
};

const purgedOf = (event: SpaceEvent): PurgedContent | undefined =>
  event.type === 'SpaceContentPurged' ? event.data : undefined;

const ofChangeRequest = (event: ChangeRequestEvent): RevisionPiece | undefined => {
  if (event.type === 'ChangeRequestPartRecorded') return event.data;
  if (event.type !== 'ChangeRequestEdited' && event.type !== 'ChangeRequestUpdated') return undefined;
  const { revisionId, spaceId, organizationId, changeRequestId, changes, documents, parts = 0 } = event.data;
  const how =
    event.type === 'ChangeRequestEdited'
      ? ({
          type: 'edits',
          parents: [event.data.parent],
          createdBy: event.data.editedBy,
          createdAt: event.data.editedAt,
        } as const)
      : ({
          type: 'update',
          parents: event.data.parents,
          createdBy: event.data.updatedBy,
          createdAt: event.data.updatedAt,
        } as const);
  const info = { id: revisionId, spaceId, organizationId, changeRequestId, ...how };
  return { spaceId, changes, documents, parts, info };
};

/** Everything in which revisions are made: the primary lines of spaces and the branches of change requests. */
export const revisionSources: readonly RevisionSource[] = [
  {
    aggregate: spaceAggregate.name,
    handles: ['RevisionPartRecorded', 'RevisionCommitted', 'SpaceContentPurged'],
    read: (event: Recorded<DomainEvent>) => ofSpace(event as unknown as SpaceEvent),
    purged: (event: Recorded<DomainEvent>) => purgedOf(event as unknown as SpaceEvent),
  },
  {
    aggregate: changeRequestAggregate.name,
    handles: ['ChangeRequestPartRecorded', 'ChangeRequestEdited', 'ChangeRequestUpdated'],
    read: (event: Recorded<DomainEvent>) => ofChangeRequest(event as unknown as ChangeRequestEvent),
  },
];
