import type { JSONDocument } from '@bindery/contracts';
import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, notFound, type Problem } from '@bindery/service-kit';
import type { RevisionChange, StoredDocument } from '../revisions/model.ts';
import type { ChangeRequestEvent, ChangeRequestLink, ChangeRequestStatus, MergeConflict } from './events.ts';
import { isStale, type MergeFacts, requireRules } from './merge-rules.ts';
import { isSubmitted, type ReviewCommand, removeReviewer, requestReviewers, submitReview } from './review-rules.ts';
import { type ChangeRequestState, evolve, initialState, type OpenedChangeRequest } from './state.ts';

/** The content of a revision, cut into pieces that fit into events; at least one. */
export type BranchParts = readonly {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
}[];

/** Follows the space's `ChangeRequestNumbered`. */
export interface OpenChangeRequest {
  readonly type: 'OpenChangeRequest';
  readonly data: Extract<ChangeRequestEvent, { type: 'ChangeRequestOpened' }>['data'];
}

/** Absent fields stay as they are. */
export interface DescribeChangeRequest {
  readonly type: 'DescribeChangeRequest';
  readonly data: {
    readonly subject?: string;
    readonly description?: JSONDocument;
    readonly links?: readonly ChangeRequestLink[];
    /** Merged comes from merging only. */
    readonly status?: Exclude<ChangeRequestStatus, 'merged'>;
    readonly changedBy: string;
    readonly changedAt: string;
  };
}

/** Puts a revision on the branch that was decided against `parent`. */
export interface EditChangeRequest {
  readonly type: 'EditChangeRequest';
  readonly data: {
    readonly revisionId: string;
    readonly parent: string;
    readonly parts: BranchParts;
    /** Pages that the edit names or changes: those that are in conflict are settled. */
    readonly touched: readonly string[];
    readonly editedBy: string;
    readonly editedAt: string;
  };
}

/** An edit that was decided against `parent` and changes nothing: what it names may stay as it is. */
export interface SettleConflicts {
  readonly type: 'SettleConflicts';
  readonly data: {
    readonly parent: string;
    readonly touched: readonly string[];
    readonly settledBy: string;
    readonly settledAt: string;
  };
}

/** Puts a revision on the branch into which the primary content was merged. */
export interface UpdateChangeRequest {
  readonly type: 'UpdateChangeRequest';
  readonly data: {
    readonly revisionId: string;
    readonly parents: readonly [string, string];
    readonly primaryRevision: string;
    readonly parts: BranchParts;
    readonly conflicts: readonly MergeConflict[];
    readonly updatedBy: string;
    readonly updatedAt: string;
  };
}

/** Freezes the branch at `revisionId` for the merge revision `mergeId`, if the merge rules let it. */
export interface StartMerge {
  readonly type: 'StartMerge';
  readonly data: {
    readonly mergeId: string;
    readonly revisionId: string;
    readonly startedBy: string;
    readonly startedAt: string;
    readonly facts: MergeFacts;
  };
}

/** Only after the space has been told to refuse the commit. */
export interface AbandonMerge {
  readonly type: 'AbandonMerge';
  readonly data: { readonly mergeId: string; readonly abandonedAt: string };
}

/** Records what the space has committed: a fact, so it is never refused. */
export interface CompleteMerge {
  readonly type: 'CompleteMerge';
  readonly data: {
    readonly mergeId: string;
    readonly revisionMerged: string;
    readonly mergedBy: string;
    readonly mergedAt: string;
  };
}

export type ChangeRequestCommand =
  | OpenChangeRequest
  | DescribeChangeRequest
  | EditChangeRequest
  | SettleConflicts
  | UpdateChangeRequest
  | ReviewCommand
  | StartMerge
  | AbandonMerge
  | CompleteMerge;

/** A begun merge without a commit is given up after this long, in ms. */
export const mergeTimeoutMs = 30_000;

const decide = (command: ChangeRequestCommand, state: ChangeRequestState): readonly ChangeRequestEvent[] => {
  if (command.type === 'OpenChangeRequest') return open(command, state);
  if (state.status === 'none') throw notFound('change request');
  switch (command.type) {
    case 'DescribeChangeRequest':
      return describe(command, state);
    case 'EditChangeRequest':
      return edit(command, state);
    case 'SettleConflicts':
      return settleConflicts(command, state);
    case 'UpdateChangeRequest':
      return update(command, state);
    case 'RequestReviewers': {
      assertReviewable(state);
      const { subject, description, requestedBy: changedBy, requestedAt: changedAt } = command.data;
      const texts = {
        ...(subject === undefined ? {} : { subject }),
        ...(description === undefined ? {} : { description }),
      };
      return [
        ...describe({ type: 'DescribeChangeRequest', data: { ...texts, changedBy, changedAt } }, state),
        ...requestReviewers(command, state, idsOf(state)),
      ];
    }
    case 'RemoveReviewer':
      if (state.status === 'merged') throw merged(state);
      return removeReviewer(command, state, idsOf(state));
    case 'SubmitReview':
      if (isSubmitted(command, state)) return [];
      assertReviewable(state);
      return submitReview(command, state, idsOf(state));
    case 'StartMerge':
      return startMerge(command, state);
    case 'AbandonMerge':
      return abandonMerge(command, state);
    case 'CompleteMerge':
      return completeMerge(command, state);
    default:
      return assertNever(command);
  }
};

const open = ({ data }: OpenChangeRequest, state: ChangeRequestState): readonly ChangeRequestEvent[] => {
  if (state.status === 'none') return [{ type: 'ChangeRequestOpened', data }];
  if (state.changeRequestId === data.changeRequestId && state.number === data.number) return [];
  throw conflict('change_request.exists', 'The change request exists already.');
};

/**
 * Moves between statuses (ADR 16; the reference says "any" for both PATCH and merge, and leaves out what is refused):
 *
 * | from \ to | draft | open | archived | merged (by merging) |
 * | --------- | ----- | ---- | -------- | ------------------- |
 * | draft     | -     | yes  | yes      | yes                 |
 * | open      | yes   | -    | yes      | yes                 |
 * | archived  | yes   | yes  | -        | yes                 |
 * | merged    | 409   | 409  | 409      | 409                 |
 *
 * `-` = nothing happens. While a merge is under way, every move is refused (409). Subject, description and links can be
 * changed in every status, since they are not content. Content can be edited in draft and open; in archived and merged it
 * is refused (409). Updating from the primary content is possible in all but merged.
 */
const describe = ({ data }: DescribeChangeRequest, state: OpenedChangeRequest): readonly ChangeRequestEvent[] => {
  const { changedBy, changedAt, status } = data;
  const described = {
    ...(data.subject === undefined || data.subject === state.subject ? {} : { subject: data.subject }),
    ...(data.description === undefined || same(data.description, state.description)
      ? {}
      : { description: data.description }),
    ...(data.links === undefined || same(data.links, state.links) ? {} : { links: data.links }),
  };
  const events: ChangeRequestEvent[] = [];
  if (Object.keys(described).length > 0)
    events.push({ type: 'ChangeRequestDescribed', data: { ...idsOf(state), ...described, changedBy, changedAt } });
  if (status !== undefined && status !== state.status) {
    if (state.merging !== undefined) throw merging(state);
    if (state.status === 'merged')
      throw conflict(
        'change_request.status_refused',
        `Change request ${state.number} cannot go from ${state.status} to ${status}.`,
        { from: state.status, to: status },
      );
    events.push({
      type: 'ChangeRequestStatusChanged',
      data: { ...idsOf(state), from: state.status, to: status, changedBy, changedAt },
    });
  }
  return events;
};

const edit = ({ data }: EditChangeRequest, state: OpenedChangeRequest): readonly ChangeRequestEvent[] => {
  const { parts, parent, touched, ...rest } = data;
  if (state.revision === data.revisionId) return [];
  assertEditable(state);
  if (state.revision !== parent) throw moved();
  return withParts(state, data.revisionId, parts, (last) => ({
    type: 'ChangeRequestEdited',
    data: {
      ...idsOf(state),
      ...rest,
      parent,
      ...(state.conflicts === undefined ? {} : { settled: inConflict(state, touched) }),
      ...last,
    },
  }));
};

const inConflict = ({ conflicts }: OpenedChangeRequest, touched: readonly string[]): readonly string[] => {
  const named = new Set(touched);
  return conflicts?.pages.filter((id) => named.has(id)) ?? [];
};

const settleConflicts = ({ data }: SettleConflicts, state: OpenedChangeRequest): readonly ChangeRequestEvent[] => {
  const { parent, touched, ...rest } = data;
  const settled = inConflict(state, touched);
  if (settled.length === 0 && state.conflicts?.others !== true) return [];
  assertEditable(state);
  if (state.revision !== parent) throw moved();
  return [{ type: 'ChangeRequestConflictsSettled', data: { ...idsOf(state), settled, ...rest } }];
};

const update = ({ data }: UpdateChangeRequest, state: OpenedChangeRequest): readonly ChangeRequestEvent[] => {
  const { parts, ...rest } = data;
  if (state.revision === data.revisionId) return [];
  if (state.status === 'merged') throw merged(state);
  if (state.merging !== undefined) throw merging(state);
  if (state.revision !== data.parents[0]) throw moved();
  return withParts(state, data.revisionId, parts, (last) => ({
    type: 'ChangeRequestUpdated',
    data: { ...idsOf(state), ...rest, ...last },
  }));
};

const startMerge = ({ data }: StartMerge, state: OpenedChangeRequest): readonly ChangeRequestEvent[] => {
  const { facts, ...start } = data;
  if (state.merged?.mergeId === data.mergeId) return [];
  if (state.status === 'merged') throw merged(state);
  if (state.merging !== undefined && state.merging.mergeId !== data.mergeId) throw merging(state);
  if (state.revision !== data.revisionId || isStale(state, facts)) throw moved();
  // Also when it has begun: the space may have moved on, and the rules may ask for an update.
  const bypassed = requireRules(state, facts, data.startedBy);
  if (state.merging !== undefined) return [];
  return [
    {
      type: 'ChangeRequestMergeStarted',
      data: { ...idsOf(state), ...start, ...(bypassed.length === 0 ? {} : { bypassed }) },
    },
  ];
};

const abandonMerge = ({ data }: AbandonMerge, state: OpenedChangeRequest): readonly ChangeRequestEvent[] =>
  state.merging?.mergeId === data.mergeId
    ? [{ type: 'ChangeRequestMergeAbandoned', data: { ...idsOf(state), ...data } }]
    : [];

const completeMerge = ({ data }: CompleteMerge, state: OpenedChangeRequest): readonly ChangeRequestEvent[] =>
  state.status === 'merged'
    ? []
    : [{ type: 'ChangeRequestMerged', data: { ...idsOf(state), ...data, ...bypassedIn(state, data.mergeId) } }];

const bypassedIn = ({ merging: pending }: OpenedChangeRequest, mergeId: string): { bypassed?: readonly string[] } =>
  pending?.mergeId === mergeId && pending.bypassed !== undefined ? { bypassed: pending.bypassed } : {};

/**
 * Refuses while the content may not be edited.
 * @throws Problem conflict
 */
export const assertEditable = (state: OpenedChangeRequest): void => {
  if (state.status === 'merged') throw merged(state);
  if (state.status === 'archived')
    throw conflict('change_request.archived', `Change request ${state.number} is archived; open it to edit it.`);
  if (state.merging !== undefined) throw merging(state);
};

/** Refuses what is archived, merged or being merged: nobody waits for a review of it. */
const assertReviewable = (state: OpenedChangeRequest): void => {
  if (state.status === 'archived')
    throw conflict('change_request.archived', `Change request ${state.number} is archived; open it to review it.`);
  assertEditable(state);
};

const merged = (state: OpenedChangeRequest): Problem =>
  conflict('change_request.merged', `Change request ${state.number} is merged already.`);
const merging = (state: OpenedChangeRequest): Problem =>
  conflict('change_request.merging', `Change request ${state.number} is being merged; try again in a moment.`);
/** For the handler, which decides anew. */
const moved = (): Problem =>
  conflict('change_request.moved', 'Others keep changing this change request; read it again and repeat the change.');

const idsOf = ({ spaceId, organizationId, changeRequestId }: OpenedChangeRequest) => ({
  spaceId,
  organizationId,
  changeRequestId,
});

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const withParts = (
  state: OpenedChangeRequest,
  revisionId: string,
  parts: BranchParts,
  final: (last: BranchParts[number] & { readonly parts?: number }) => ChangeRequestEvent,
): readonly ChangeRequestEvent[] => {
  const before = parts.slice(0, -1);
  const last = parts.at(-1) ?? { changes: [], documents: [] };
  return [
    ...before.map(
      (part, index): ChangeRequestEvent => ({
        type: 'ChangeRequestPartRecorded',
        data: { ...idsOf(state), revisionId, part: index, ...part },
      }),
    ),
    final(before.length === 0 ? last : { ...last, parts: before.length }),
  ];
};

/** The rules of a change request. */
export const changeRequestDecider: Decider<ChangeRequestState, ChangeRequestCommand, ChangeRequestEvent> = {
  initialState,
  decide,
  evolve,
};
