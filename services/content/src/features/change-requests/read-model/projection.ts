import { documentPerStream, ignoreUnknown, type Projection, type Recorded } from '@bindery/event-sourcing';
import { purgedRevision } from '../../revisions/index.ts';
import { type SpaceEvent, spaceAggregate } from '../../spaces/index.ts';
import { changeRequestAggregate } from '../aggregate.ts';
import type { ChangeRequestEvent } from '../events.ts';
import { type ChangeRequestDocument, type Contribution, changeRequestsCollection } from './document.ts';

type Opened = Extract<ChangeRequestEvent, { type: 'ChangeRequestOpened' }>['data'];

const opened = (data: Opened): ChangeRequestDocument => ({
  id: data.changeRequestId,
  spaceId: data.spaceId,
  organizationId: data.organizationId,
  number: data.number,
  status: data.status,
  subject: data.subject,
  createdBy: data.createdBy,
  createdAt: data.createdAt,
  updatedAt: data.createdAt,
  revision: data.revisionInitial,
  revisionInitial: data.revisionInitial,
  contributors: [data.createdBy],
  contributions: [],
  requestedReviewers: [],
});

const contributed = (
  { contributors, contributions }: ChangeRequestDocument,
  user: string,
  at: string,
): Pick<ChangeRequestDocument, 'contributors' | 'contributions'> => {
  const known = contributions.find((it) => it.user === user);
  const mine: Contribution = { user, count: (known?.count ?? 0) + 1, updatedAt: at };
  return {
    contributors: contributors.includes(user) ? contributors : [...contributors, user],
    contributions:
      known === undefined ? [...contributions, mine] : contributions.map((it) => (it === known ? mine : it)),
  };
};

const withoutMerge = ({ mergingSince: _, ...document }: ChangeRequestDocument): ChangeRequestDocument => document;

/** The document of a change request after one more event. Never throws: what is recorded is a fact. */
export const evolveChangeRequest = (
  document: ChangeRequestDocument | undefined,
  event: Pick<Recorded<ChangeRequestEvent>, 'type' | 'data'>,
): ChangeRequestDocument | undefined => {
  const fact = event as ChangeRequestEvent;
  if (fact.type === 'ChangeRequestOpened') return opened(fact.data);
  if (document === undefined) return undefined;
  switch (fact.type) {
    case 'ChangeRequestDescribed': {
      const { subject, description, links, changedAt } = fact.data;
      return {
        ...document,
        ...(subject === undefined ? {} : { subject }),
        ...(description === undefined ? {} : { description: JSON.stringify(description) }),
        ...(links === undefined ? {} : { links }),
        updatedAt: changedAt,
      };
    }
    case 'ChangeRequestStatusChanged':
      return { ...document, status: fact.data.to, updatedAt: fact.data.changedAt };
    case 'ChangeRequestPartRecorded':
      return document;
    case 'ChangeRequestEdited': {
      const { revisionId, editedBy, editedAt } = fact.data;
      return { ...document, ...contributed(document, editedBy, editedAt), revision: revisionId, updatedAt: editedAt };
    }
    case 'ChangeRequestConflictsSettled':
      return document;
    case 'ChangeRequestUpdated': {
      const { revisionId, primaryRevision, updatedAt } = fact.data;
      return { ...document, revision: revisionId, revisionMergedAncestor: primaryRevision, updatedAt };
    }
    case 'ChangeRequestReviewersRequested': {
      const asked = fact.data.reviewers.map(({ id }) => id);
      return { ...document, requestedReviewers: [...new Set([...document.requestedReviewers, ...asked])] };
    }
    case 'ChangeRequestReviewerRemoved':
      return {
        ...document,
        requestedReviewers: document.requestedReviewers.filter((id) => id !== fact.data.id),
      };
    case 'ChangeRequestReviewed':
      return document;
    case 'ChangeRequestMergeStarted':
      return { ...document, mergingSince: fact.data.startedAt };
    case 'ChangeRequestMergeAbandoned':
      return withoutMerge(document);
    case 'ChangeRequestMerged': {
      const { revisionMerged, mergedBy, mergedAt } = fact.data;
      return { ...withoutMerge(document), status: 'merged', revisionMerged, mergedBy, mergedAt, updatedAt: mergedAt };
    }
    default:
      return ignoreUnknown(document, fact);
  }
};

const own: readonly ChangeRequestEvent['type'][] = [
  'ChangeRequestOpened',
  'ChangeRequestDescribed',
  'ChangeRequestStatusChanged',
  'ChangeRequestPartRecorded',
  'ChangeRequestEdited',
  'ChangeRequestConflictsSettled',
  'ChangeRequestUpdated',
  'ChangeRequestReviewersRequested',
  'ChangeRequestReviewerRemoved',
  'ChangeRequestReviewed',
  'ChangeRequestMergeStarted',
  'ChangeRequestMergeAbandoned',
  'ChangeRequestMerged',
];

const perStream: Projection = documentPerStream<ChangeRequestEvent, ChangeRequestDocument>({
  name: 'change-requests',
  aggregate: changeRequestAggregate.name,
  collection: changeRequestsCollection,
  handles: own,
  evolve: evolveChangeRequest,
});

/**
 * `content.change_requests`: one document per change request. Every event of the stream is handled, also those that change
 * nothing, so that the document's revision is the stream's and can serve as entity tag. Change requests of purged
 * spaces go with an event of the space.
 */
export const changeRequestsProjection: Projection = {
  ...perStream,
  aggregates: [changeRequestAggregate.name, spaceAggregate.name],
  handles: [...own, 'SpaceContentPurged'],
  apply(event, reader) {
    const fact = event as unknown as SpaceEvent;
    if (fact.type !== 'SpaceContentPurged') return perStream.apply(event, reader);
    return (fact.data.changeRequests ?? []).map((id) => ({
      collection: changeRequestsCollection,
      write: { kind: 'remove', id, revision: purgedRevision },
    }));
  },
};
