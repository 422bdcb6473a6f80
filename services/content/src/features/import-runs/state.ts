import { ignoreUnknown } from '@bindery/event-sourcing';
import type { ImportItem, ImportRequest, ImportRunEvent, SettledFile, SettledItem } from './events.ts';

/** How one import stands, as far as decisions and the work need it. */
export type ImportRunState =
  | { readonly status: 'none' }
  | {
      readonly status: 'pending' | 'in-progress' | 'completed' | 'failed' | 'cancelled';
      readonly request: ImportRequest;
      /** The process that works on it. */
      readonly worker?: string;
      /** It goes into the content. */
      readonly landing: boolean;
      readonly cleared: boolean;
      /** In the order in which they were found. */
      readonly items: ReadonlyMap<string, ImportItem>;
      readonly settled: ReadonlyMap<string, SettledItem>;
      readonly files: ReadonlyMap<string, SettledFile>;
      readonly beyond: number;
    };
export type KnownImportRun = Exclude<ImportRunState, { readonly status: 'none' }>;

export const initialState = (): ImportRunState => ({ status: 'none' });

const added = <T>(map: ReadonlyMap<string, T>, values: readonly T[], keyOf: (value: T) => string) => {
  if (values.length === 0) return map;
  const copy = new Map(map);
  for (const value of values) copy.set(keyOf(value), value);
  return copy;
};

/** Folds one event into the state. Never throws. */
export const evolve = (state: ImportRunState, event: ImportRunEvent): ImportRunState => {
  if (event.type === 'ImportRunRequested') {
    const nothing = { items: new Map(), settled: new Map(), files: new Map(), beyond: 0 };
    return { status: 'pending', request: event.data, landing: false, cleared: false, ...nothing };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'ImportRunTaken':
      return { ...state, status: 'in-progress', worker: event.data.worker };
    case 'ImportRunProgressed': {
      const { found, settled, files, beyond } = event.data;
      return {
        ...state,
        items: added(state.items, found, ({ id }) => id),
        settled: added(state.settled, settled, ({ id }) => id),
        files: added(state.files, files, ({ address }) => address),
        beyond: state.beyond + beyond,
      };
    }
    case 'ImportRunLanding':
      return { ...state, landing: true };
    case 'ImportRunCompleted':
      return { ...state, status: 'completed' };
    case 'ImportRunFailed':
      return { ...state, status: 'failed' };
    case 'ImportRunCancelled':
      return { ...state, status: 'cancelled' };
    case 'ImportRunCleared':
      return { ...state, cleared: true };
    default:
      return ignoreUnknown(state, event);
  }
};
