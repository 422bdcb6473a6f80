import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { PurgedContent, RevisionChange, RevisionType, StoredDocument } from '../revisions/model.ts';
import type {
  ComputedContent,
  DefaultLevel,
  MergeRules,
  SpaceEvent,
  SpaceSettings,
  SpaceVisibility,
} from './events.ts';
import { type ExistingSpace, evolve, initialState, type SpaceState } from './state.ts';

/** The content of a revision, cut into pieces that fit into events; at least one, the last goes with the commit. */
export type RevisionParts = readonly {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
}[];

/** A space begins with a first revision, in the same append. */
export interface CreateSpace {
  readonly type: 'CreateSpace';
  readonly data: {
    readonly spaceId: string;
    readonly organizationId: string;
    readonly title: string;
    readonly emoji?: string;
    readonly icon?: string;
    readonly visibility: SpaceVisibility;
    readonly defaultLevel: DefaultLevel;
    readonly editMode?: 'live' | 'locked';
    readonly language?: string;
    readonly mergeRules: MergeRules;
    readonly parent?: string;
    /** Absent: at the end of its siblings, as of now. */
    readonly order?: string;
    readonly duplicateOf?: string;
    readonly computed?: ComputedContent;
    readonly createdBy: string;
    readonly createdAt: string;
    readonly revisionId: string;
    readonly parts: RevisionParts;
  };
}

export interface ChangeSpaceSettings {
  readonly type: 'ChangeSpaceSettings';
  readonly data: { readonly settings: SpaceSettings; readonly changedBy: string; readonly changedAt: string };
}

export interface DeleteSpace {
  readonly type: 'DeleteSpace';
  /** `purgeAfter`: ISO time from which it can be purged and no longer be restored. */
  readonly data: { readonly deletedBy: string; readonly deletedAt: string; readonly purgeAfter: string };
  /** Only if it is in this collection: the deletion of the collection is the reason. */
  readonly ifIn?: string;
}

export interface MoveSpace {
  readonly type: 'MoveSpace';
  readonly data: {
    readonly parent: string | null;
    readonly order: string;
    readonly movedBy: string;
    readonly movedAt: string;
  };
  /** The organization that the parent is of. */
  readonly within: string;
}

export interface TransferSpace {
  readonly type: 'TransferSpace';
  readonly data: {
    readonly organizationId: string;
    readonly parent: string | null;
    /** Absent: it keeps its place among its siblings, which go with it. */
    readonly order?: string;
    readonly transferredBy: string;
    readonly transferredAt: string;
  };
  /** Only if it is in this collection: the transfer of the collection is the reason. */
  readonly ifIn?: string;
}

export interface RestoreSpace {
  readonly type: 'RestoreSpace';
  readonly data: { readonly restoredBy: string; readonly restoredAt: string };
  /** When the collection `from` that it was in is gone: where it goes, and the default that the collection gave it. */
  readonly instead?: { readonly from: string; readonly order: string; readonly defaultLevel: DefaultLevel };
}

export interface PurgeSpace {
  readonly type: 'PurgeSpace';
  readonly data: { readonly purgedAt: string };
}

/** Removes some of what is stored for reading of a space that was purged. */
export interface PurgeContent {
  readonly type: 'PurgeContent';
  readonly data: PurgedContent;
}

/** Gives a change request the next number and the head as the revision that it starts from. */
export interface NumberChangeRequest {
  readonly type: 'NumberChangeRequest';
  readonly data: {
    readonly changeRequestId: string;
    readonly subject: string;
    readonly status: 'draft' | 'open';
    readonly createdBy: string;
    readonly createdAt: string;
  };
}

/** Makes a revision the head of the primary content. */
export interface CommitRevision {
  readonly type: 'CommitRevision';
  readonly data: {
    readonly revisionId: string;
    readonly revisionType: RevisionType;
    /** The first is the head that the changes start from. */
    readonly parents: readonly string[];
    readonly parts: RevisionParts;
    readonly mergedFrom?: { readonly changeRequestId: string; readonly revisionId: string };
    readonly createdBy: string;
    readonly createdAt: string;
  };
}

/** Gives a merge up: from here on its commit is refused. */
export interface AbandonMerge {
  readonly type: 'AbandonMerge';
  readonly data: { readonly changeRequestId: string; readonly mergeId: string; readonly abandonedAt: string };
}

export type SpaceCommand =
  | CreateSpace
  | ChangeSpaceSettings
  | DeleteSpace
  | MoveSpace
  | TransferSpace
  | RestoreSpace
  | PurgeSpace
  | PurgeContent
  | NumberChangeRequest
  | CommitRevision
  | AbandonMerge;

const decide = (command: SpaceCommand, state: SpaceState): readonly SpaceEvent[] => {
  if (command.type === 'CreateSpace') return create(command, state);
  // What was purged is as if it had never been.
  if (state.status === 'none' || state.status === 'purged') {
    if (command.type === 'PurgeSpace' && state.status === 'purged') return [];
    if (command.type === 'PurgeContent' && state.status === 'purged')
      return [{ type: 'SpaceContentPurged', data: { ...command.data, organizationId: state.organizationId } }];
    throw notFound('space');
  }
  switch (command.type) {
    case 'ChangeSpaceSettings':
      return changeSettings(command, active(state));
    case 'DeleteSpace':
      return deleteSpace(command, state);
    case 'MoveSpace':
      return move(command, active(state));
    case 'TransferSpace':
      return transfer(command, state);
    case 'RestoreSpace':
      return restore(command, state);
    case 'PurgeSpace':
      return purge(command, state);
    case 'PurgeContent':
      throw conflict('space.not_purged', 'The space is not purged.');
    case 'NumberChangeRequest':
      return numberChangeRequest(command, state);
    case 'CommitRevision':
      return commit(command, state);
    case 'AbandonMerge':
      return abandonMerge(command, state);
    default:
      return assertNever(command);
  }
};

/** Only a space that is not deleted can change. */
const active = (state: ExistingSpace): ExistingSpace => {
  if (state.status === 'deleted') throw notFound('space');
  return state;
};

const create = ({ data }: CreateSpace, state: SpaceState): readonly SpaceEvent[] => {
  if (state.status !== 'none') {
    if (state.spaceId === data.spaceId) return [];
    throw conflict('space.exists', 'The space exists already.');
  }
  const { revisionId, parts, ...created } = data;
  const { spaceId, organizationId, createdBy, createdAt } = data;
  return [
    { type: 'SpaceCreated', data: created },
    ...revisionEvents(
      { spaceId, organizationId },
      { revisionId, revisionType: 'edits', parents: [], parts, createdBy, createdAt },
    ),
  ];
};

const changeSettings = ({ data }: ChangeSpaceSettings, state: ExistingSpace): readonly SpaceEvent[] => {
  const current: Readonly<Record<string, unknown>> = { ...state.settings };
  const changed = Object.entries(data.settings).filter(
    ([name, value]) => value !== undefined && !sameSetting(value, current[name] ?? null),
  );
  if (changed.length === 0) return [];
  const { spaceId, organizationId } = state;
  const { changedBy, changedAt } = data;
  const settings = Object.fromEntries(changed);
  return [{ type: 'SpaceSettingsChanged', data: { spaceId, organizationId, settings, changedBy, changedAt } }];
};

/** Settings are small JSON in the order of the contract. */
const sameSetting = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const deleteSpace = ({ data, ifIn }: DeleteSpace, state: ExistingSpace): readonly SpaceEvent[] => {
  if (state.status === 'deleted' || (ifIn !== undefined && state.parent !== ifIn)) return [];
  const { spaceId, organizationId } = state;
  return [{ type: 'SpaceDeleted', data: { spaceId, organizationId, ...data } }];
};

/** Only spaces in collections can be visible as the collection is (reference: Space). */
const visibilityIn = (parent: string | null, { visibility }: ExistingSpace): { visibility?: SpaceVisibility } =>
  parent === null && visibility === 'in-collection' ? { visibility: 'private' } : {};

const move = ({ data, within }: MoveSpace, state: ExistingSpace): readonly SpaceEvent[] => {
  const { parent, order } = data;
  if (state.organizationId !== within) throw notFound('space');
  if (parent === state.parent && order === state.order) return [];
  const { spaceId, organizationId } = state;
  return [{ type: 'SpaceMoved', data: { spaceId, organizationId, ...data, ...visibilityIn(parent, state) } }];
};

const transfer = ({ data, ifIn }: TransferSpace, state: ExistingSpace): readonly SpaceEvent[] => {
  const { organizationId, parent, order = state.order, transferredBy, transferredAt } = data;
  if (ifIn !== undefined && state.parent !== ifIn) return [];
  if (organizationId === state.organizationId) return [];
  // Deleted spaces in a collection go with it; nobody transfers one by itself.
  if (ifIn === undefined) active(state);
  const { spaceId } = state;
  const facts = { spaceId, organizationId, from: state.organizationId, parent, transferredBy, transferredAt };
  return [
    { type: 'SpaceTransferred', data: { ...facts, ...(order ? { order } : {}), ...visibilityIn(parent, state) } },
  ];
};

const restore = ({ data, instead }: RestoreSpace, state: ExistingSpace): readonly SpaceEvent[] => {
  if (state.status !== 'deleted') return [];
  // Past its term it only waits for the purge.
  if (isDue(state, data.restoredAt)) throw notFound('space');
  const { spaceId, organizationId } = state;
  const restored: SpaceEvent = { type: 'SpaceRestored', data: { spaceId, organizationId, ...data } };
  if (instead === undefined || state.parent !== instead.from) return [restored];
  const { restoredBy, restoredAt } = data;
  const place = { parent: null, order: instead.order, movedBy: restoredBy, movedAt: restoredAt };
  const moved: SpaceEvent = {
    type: 'SpaceMoved',
    data: { spaceId, organizationId, ...place, ...visibilityIn(null, state) },
  };
  // Nobody gains access by the collection being gone.
  if (state.settings.defaultLevel !== 'inherit' || instead.defaultLevel === 'inherit') return [restored, moved];
  const settings = { defaultLevel: instead.defaultLevel };
  const by = { changedBy: restoredBy, changedAt: restoredAt };
  return [restored, moved, { type: 'SpaceSettingsChanged', data: { spaceId, organizationId, settings, ...by } }];
};

const purge = ({ data }: PurgeSpace, state: ExistingSpace): readonly SpaceEvent[] => {
  if (state.status !== 'deleted') throw conflict('space.not_deleted', 'The space is not deleted.');
  if (!isDue(state, data.purgedAt))
    throw conflict('space.purge_not_due', `The space can be restored until ${state.purgeAfter}.`);
  const { spaceId, organizationId } = state;
  return [{ type: 'SpacePurged', data: { spaceId, organizationId, purgedAt: data.purgedAt } }];
};

/** ISO times in UTC compare as text. */
const isDue = (state: ExistingSpace, now: string): boolean => state.purgeAfter !== undefined && now >= state.purgeAfter;

const numberChangeRequest = ({ data }: NumberChangeRequest, state: ExistingSpace): readonly SpaceEvent[] => {
  if (state.changeRequests.has(data.changeRequestId)) return [];
  const { spaceId, organizationId, head, nextNumber } = active(state);
  if (head === null) throw conflict('space.no_revision', 'The space has no content yet.');
  return [
    {
      type: 'ChangeRequestNumbered',
      data: { spaceId, organizationId, ...data, number: nextNumber, revisionInitial: head },
    },
  ];
};

const commit = ({ data }: CommitRevision, state: ExistingSpace): readonly SpaceEvent[] => {
  const { revisionId, mergedFrom, parents } = data;
  if (state.head === revisionId) return [];
  if (mergedFrom !== undefined) {
    const source = state.changeRequests.get(mergedFrom.changeRequestId);
    if (source === undefined) throw notFound('change request');
    if (source.merged?.revisionId === revisionId) return [];
    if (source.merged !== undefined)
      throw conflict('change_request.merged', `Change request ${source.number} is merged already.`);
    if (source.fenced?.includes(revisionId))
      throw conflict('merge.abandoned', `This merge of change request ${source.number} was given up.`);
  }
  const { spaceId, organizationId, head } = active(state);
  if (head === null ? parents.length > 0 : parents[0] !== head)
    throw conflict('revision.head_moved', 'The primary content has changed meanwhile.', { head });
  return revisionEvents({ spaceId, organizationId }, data);
};

const abandonMerge = ({ data }: AbandonMerge, state: ExistingSpace): readonly SpaceEvent[] => {
  const { changeRequestId, mergeId, abandonedAt } = data;
  const source = state.changeRequests.get(changeRequestId);
  if (source === undefined) throw notFound('change request');
  // Committed already: there is nothing to keep out.
  if (source.merged !== undefined || source.fenced?.includes(mergeId)) return [];
  return [{ type: 'MergeAbandoned', data: { spaceId: state.spaceId, changeRequestId, mergeId, abandonedAt } }];
};

const revisionEvents = (
  owner: { readonly spaceId: string; readonly organizationId: string },
  { parts, ...revision }: CommitRevision['data'],
): readonly SpaceEvent[] => {
  const { spaceId } = owner;
  const { revisionId } = revision;
  const before = parts.slice(0, -1);
  const last = parts.at(-1) ?? { changes: [], documents: [] };
  return [
    ...before.map(
      (part, index): SpaceEvent => ({
        type: 'RevisionPartRecorded',
        data: { spaceId, revisionId, part: index, ...part },
      }),
    ),
    { type: 'RevisionCommitted', data: { ...owner, ...revision, parts: before.length, ...last } },
  ];
};

/** The rules of a space. Refuses with not-found while it is deleted, except to restore, purge and finish merges. */
export const spaceDecider: Decider<SpaceState, SpaceCommand, SpaceEvent> = { initialState, decide, evolve };
