import { ignoreUnknown } from '@bindery/event-sourcing';
import type { GitDirection, GitOperationRequest, GitSyncEvent } from './events.ts';

/** What the next sync starts from. */
export interface SyncedState {
  /** The revision that says what the repository said. */
  readonly revisionId: string;
  readonly commitId: string;
  readonly url: string;
  readonly directory: string;
}

/** The syncs of one space, as far as decisions need them. */
export type GitSyncStateOfSpace =
  | { readonly status: 'none' }
  | {
      readonly status: 'known';
      readonly spaceId: string;
      readonly organizationId: string;
      /** The newest operation. */
      readonly operation: GitOperationRequest & { readonly running: boolean };
      /** Timestamps of the newest that were applied. */
      readonly applied: { readonly [D in GitDirection]?: string };
      readonly synced?: SyncedState;
      /** Revisions beside the line that the running operation has recorded. */
      readonly recorded: readonly string[];
    };

export const initialState = (): GitSyncStateOfSpace => ({ status: 'none' });

/** Folds one event into the state. Never throws. */
export const evolve = (state: GitSyncStateOfSpace, event: GitSyncEvent): GitSyncStateOfSpace => {
  if (event.type === 'GitSyncStarted') {
    const { spaceId, organizationId, ...request } = event.data;
    const before = state.status === 'none' ? { applied: {} } : state;
    return {
      ...before,
      status: 'known',
      spaceId,
      organizationId,
      operation: { ...request, running: true },
      recorded: [],
    };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'GitPlacesChanged':
    case 'GitRevisionPartRecorded':
      return state;
    case 'GitRevisionRecorded':
      return { ...state, recorded: [...state.recorded, event.data.revisionId] };
    case 'GitSyncCompleted': {
      const { direction, timestamp, url, directory } = state.operation;
      const { syncedRevisionId, commit, standalone } = event.data;
      const applied =
        standalone || timestamp === undefined ? state.applied : { ...state.applied, [direction]: timestamp };
      const synced =
        syncedRevisionId === undefined
          ? {}
          : { synced: { revisionId: syncedRevisionId, commitId: commit.oid, url, directory } };
      return { ...state, operation: { ...state.operation, running: false }, applied, ...synced };
    }
    case 'GitSyncFailed':
      return { ...state, operation: { ...state.operation, running: false } };
    default:
      return ignoreUnknown(state, event);
  }
};
