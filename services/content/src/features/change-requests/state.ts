import type { JSONDocument } from '@bindery/contracts';
import { ignoreUnknown } from '@bindery/event-sourcing';
import type { ChangeRequestEvent, ChangeRequestLink, ChangeRequestStatus, MergeConflict } from './events.ts';
import { evolveReviews, noReviews, type Reviewing } from './review-rules.ts';

/** A merge that was begun and is neither done nor given up. */
export interface PendingMerge {
  /** Id of the merge revision to be. */
  readonly mergeId: string;
  /** The revision of the branch that is merged. */
  readonly revisionId: string;
  readonly startedBy: string;
  readonly startedAt: string;
  readonly bypassed?: readonly string[];
}

/** What a merge or update left for somebody to look at; while there is any, nothing is merged (ADR 6). */
export interface OpenConflicts {
  /** Ids of pages: each until an edit names it. */
  readonly pages: readonly string[];
  /** Of files, reusable contents and variables: until the next edit, since not all of them can be named in one. */
  readonly others: boolean;
}

/** A change request that was opened. Only what its decisions need; content is elsewhere. */
export interface OpenedChangeRequest extends Reviewing {
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
  /** Absent when there are none. */
  readonly conflicts?: OpenConflicts;
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
    const revisions = { revision, revisionInitial, revisionMergedAncestor };
    return { status, ...ids, subject, links: [], createdBy, ...revisions, ...noReviews };
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
      return { ...settle(state, settledBy(state, event.data)), revision: event.data.revisionId };
    case 'ChangeRequestConflictsSettled':
      return settle(state, event.data.settled);
    case 'ChangeRequestUpdated': {
      const { revisionId, primaryRevision, conflicts } = event.data;
      return { ...withConflicts(state, conflicts), revision: revisionId, revisionMergedAncestor: primaryRevision };
    }
    case 'ChangeRequestReviewersRequested':
    case 'ChangeRequestReviewerRemoved':
    case 'ChangeRequestReviewed':
      return evolveReviews(state, event);
    case 'ChangeRequestMergeStarted': {
      const { mergeId, revisionId, startedBy, startedAt, bypassed } = event.data;
      const unmet = bypassed === undefined ? {} : { bypassed };
      return { ...state, merging: { mergeId, revisionId, startedBy, startedAt, ...unmet } };
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

const withConflicts = (state: OpenedChangeRequest, found: readonly MergeConflict[]): OpenedChangeRequest => {
  if (found.length === 0) return state;
  const pages = found.flatMap(({ kind, pageId }) => (kind === undefined ? pageId : []));
  const conflicts = {
    pages: [...new Set([...(state.conflicts?.pages ?? []), ...pages])],
    others: state.conflicts?.others === true || pages.length < found.length,
  };
  return { ...state, conflicts };
};

type Edited = Extract<ChangeRequestEvent, { type: 'ChangeRequestEdited' }>['data'];

const settledBy = ({ conflicts }: OpenedChangeRequest, edited: Edited): readonly string[] => {
  if (edited.settled !== undefined) return edited.settled;
  // What stands in parts of an older event is not at hand here; so large an edit has looked at everything.
  if (edited.parts !== undefined) return conflicts?.pages ?? [];
  return edited.changes.flatMap((change) => {
    if (change.kind === 'page_inserted') return change.page.id;
    return 'pageId' in change ? change.pageId : [];
  });
};

const settle = ({ conflicts, ...state }: OpenedChangeRequest, settled: readonly string[]): OpenedChangeRequest => {
  const pages = conflicts?.pages.filter((id) => !settled.includes(id)) ?? [];
  return pages.length === 0 ? state : { ...state, conflicts: { pages, others: false } };
};

const withoutMerge = ({ merging: _, ...state }: OpenedChangeRequest): OpenedChangeRequest => state;
