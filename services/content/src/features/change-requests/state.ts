import type { JSONDocument } from '@bindery/contracts';
import { ignoreUnknown } from '@bindery/event-sourcing';
import type { ChangeRequestEvent, ChangeRequestLink, ChangeRequestStatus } from './events.ts';

/** A merge that was begun and is neither done nor given up. */
export interface PendingMerge {
  /** Id of the merge revision to be. */
  readonly mergeId: string;
  /** The revision of the branch that is merged. */
  readonly revisionId: string;
  readonly startedBy: string;
  readonly startedAt: string;
}

/** A change request that was opened. Only what its decisions need; content is elsewhere. */
export interface OpenedChangeRequest {
  readonly status: ChangeRequestStatus;
  readonly spaceId: string;
  readonly organizationId: string;
  readonly changeRequestId: string;
  readonly number: number;
  readonly subject: string;
  readonly description?: JSONDocument;
  readonly links: readonly ChangeRequestLink[];
  readonly createdBy: string;
  /** The branch's newest revision. */
  readonly revision: string;
  readonly revisionInitial: string;
  /** The primary revision that was merged in last; what a merge starts from. */
  readonly revisionMergedAncestor: string;
  readonly merging?: PendingMerge;
  readonly merged?: { readonly mergeId: string; readonly revisionMerged: string };
}

export type ChangeRequestState = { readonly status: 'none' } | OpenedChangeRequest;

export const initialState = (): ChangeRequestState => ({ status: 'none' });

/** Folds one event into the state. Never throws. */
export const evolve = (state: ChangeRequestState, event: ChangeRequestEvent): ChangeRequestState => {
  if (event.type === 'ChangeRequestOpened') {
    const { spaceId, organizationId, changeRequestId, number, subject, status, revisionInitial, createdBy } =
      event.data;
    const [revision, revisionMergedAncestor] = [revisionInitial, revisionInitial];
    const ids = { spaceId, organizationId, changeRequestId, number };
    return { status, ...ids, subject, links: [], createdBy, revision, revisionInitial, revisionMergedAncestor };
  }
  return state.status === 'none' ? state : evolveOpened(state, event);
};

const evolveOpened = (
  state: OpenedChangeRequest,
  event: Exclude<ChangeRequestEvent, { type: 'ChangeRequestOpened' }>,
): OpenedChangeRequest => {
  switch (event.type) {
    case 'ChangeRequestDescribed': {
      const { subject, description, links } = event.data;
      return {
        ...state,
        ...(subject === undefined ? {} : { subject }),
        ...(description === undefined ? {} : { description }),
        ...(links === undefined ? {} : { links }),
      };
    }
    case 'ChangeRequestStatusChanged':
      return { ...state, status: event.data.to };
    case 'ChangeRequestPartRecorded':
      return state;
    case 'ChangeRequestEdited':
      return { ...state, revision: event.data.revisionId };
    case 'ChangeRequestUpdated':
      return { ...state, revision: event.data.revisionId, revisionMergedAncestor: event.data.primaryRevision };
    case 'ChangeRequestMergeStarted': {
      const { mergeId, revisionId, startedBy, startedAt } = event.data;
      return { ...state, merging: { mergeId, revisionId, startedBy, startedAt } };
    }
    case 'ChangeRequestMergeAbandoned':
      return state.merging?.mergeId === event.data.mergeId ? withoutMerge(state) : state;
    case 'ChangeRequestMerged': {
      const { mergeId, revisionMerged } = event.data;
      return { ...withoutMerge(state), status: 'merged', merged: { mergeId, revisionMerged } };
    }
    default:
      return ignoreUnknown(state, event);
  }
};

const withoutMerge = ({ merging: _, ...state }: OpenedChangeRequest): OpenedChangeRequest => state;
