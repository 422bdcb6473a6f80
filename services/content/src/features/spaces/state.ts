import { ignoreUnknown } from '@bindery/event-sourcing';
import { ShardedMap } from '../../shared/sharded-map.ts';
import type { SpaceEvent, SpaceSettings, SpaceVisibility } from './events.ts';

/** What the space remembers of a change request: enough to number it once and to merge it once. */
export interface NumberedChangeRequest {
  readonly number: number;
  readonly subject: string;
  readonly initialStatus: 'draft' | 'open';
  readonly revisionInitial: string;
  readonly createdBy: string;
  readonly createdAt: string;
  /** The revision that it became, once merged, and who made it when. */
  readonly merged?: { readonly revisionId: string; readonly by: string; readonly at: string };
  /** Merges of it that were given up: their commits come too late. */
  readonly fenced?: readonly string[];
}

/** Settings as they are; null and absent both mean "not set". */
export type CurrentSettings = Pick<Required<SpaceSettings>, 'title' | 'defaultLevel' | 'mergeRules'> & SpaceSettings;

/** A space that exists, in whatever status. Only what its decisions need. */
export interface ExistingSpace {
  readonly status: 'active' | 'deleted' | 'purged';
  readonly spaceId: string;
  readonly organizationId: string;
  readonly settings: CurrentSettings;
  readonly visibility: SpaceVisibility;
  /** The collection that it is in. */
  readonly parent: string | null;
  /** Undefined as long as its creation says it. */
  readonly order: string | undefined;
  /** Newest revision of the primary content; null only between the two events of a creation. */
  readonly head: string | null;
  readonly nextNumber: number;
  readonly changeRequests: ShardedMap<NumberedChangeRequest>;
  /** ISO time until which a deleted space can be restored. */
  readonly purgeAfter?: string;
}

export type SpaceState = { readonly status: 'none' } | ExistingSpace;

export const initialState = (): SpaceState => ({ status: 'none' });

/** Folds one event into the state. Never throws; what does not fit changes nothing. */
export const evolve = (state: SpaceState, event: SpaceEvent): SpaceState => {
  if (event.type === 'SpaceCreated') {
    const { spaceId, organizationId, title, emoji, icon, editMode, language, defaultLevel, mergeRules } = event.data;
    return {
      status: 'active',
      spaceId,
      organizationId,
      settings: {
        title,
        defaultLevel,
        mergeRules,
        ...(emoji === undefined ? {} : { emoji }),
        ...(icon === undefined ? {} : { icon }),
        ...(editMode === undefined ? {} : { editMode }),
        ...(language === undefined ? {} : { language }),
      },
      visibility: event.data.visibility,
      parent: event.data.parent ?? null,
      order: event.data.order,
      head: null,
      nextNumber: 1,
      changeRequests: ShardedMap.empty(),
    };
  }
  return state.status === 'none' ? state : evolveExisting(state, event);
};

const evolveExisting = (state: ExistingSpace, event: Exclude<SpaceEvent, { type: 'SpaceCreated' }>): SpaceState => {
  switch (event.type) {
    case 'SpaceSettingsChanged':
      return { ...state, settings: { ...state.settings, ...event.data.settings } };
    case 'SpaceMoved':
    case 'SpaceTransferred': {
      const { organizationId, parent, order = state.order, visibility = state.visibility } = event.data;
      return { ...state, organizationId, parent, order, visibility };
    }
    case 'SpaceDeleted':
      return { ...state, status: 'deleted', purgeAfter: event.data.purgeAfter };
    case 'SpaceRestored': {
      const { purgeAfter: _, ...kept } = state;
      return { ...kept, status: 'active' };
    }
    case 'SpacePurged':
      return { ...state, status: 'purged', changeRequests: ShardedMap.empty() };
    case 'ChangeRequestNumbered': {
      const { changeRequestId, number, subject, status, revisionInitial, createdBy, createdAt } = event.data;
      const numbered = { number, subject, initialStatus: status, revisionInitial, createdBy, createdAt };
      return {
        ...state,
        nextNumber: Math.max(state.nextNumber, number + 1),
        changeRequests: state.changeRequests.with(changeRequestId, numbered),
      };
    }
    case 'RevisionPartRecorded':
    case 'SpaceContentPurged':
      return state;
    case 'RevisionCommitted': {
      const { revisionId, mergedFrom, createdBy: by, createdAt: at } = event.data;
      const merged = { revisionId, by, at };
      return remember({ ...state, head: revisionId }, mergedFrom?.changeRequestId, () => ({ merged }));
    }
    case 'MergeAbandoned': {
      const { changeRequestId, mergeId } = event.data;
      return remember(state, changeRequestId, (known) => ({ fenced: [...(known.fenced ?? []), mergeId] }));
    }
    default:
      return ignoreUnknown(state, event);
  }
};

const remember = (
  state: ExistingSpace,
  changeRequestId: string | undefined,
  more: (known: NumberedChangeRequest) => Partial<NumberedChangeRequest>,
): ExistingSpace => {
  const known = changeRequestId === undefined ? undefined : state.changeRequests.get(changeRequestId);
  if (changeRequestId === undefined || known === undefined) return state;
  return { ...state, changeRequests: state.changeRequests.with(changeRequestId, { ...known, ...more(known) }) };
};
