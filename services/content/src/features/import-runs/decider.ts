import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, invalid, notFound } from '@bindery/service-kit';
import type { ImportedPage, ImportItem, ImportRequest, ImportRunEvent, SettledFile, SettledItem } from './events.ts';
import { evolve, type ImportRunState, initialState, type KnownImportRun } from './state.ts';

export interface RequestImportRun {
  readonly type: 'RequestImportRun';
  readonly data: ImportRequest;
}
/** A process begins to work on it. Those before it are refused from here on. */
export interface TakeImportRun {
  readonly type: 'TakeImportRun';
  readonly data: { readonly worker: string; readonly takenAt: string };
}
export interface ProgressImportRun {
  readonly type: 'ProgressImportRun';
  readonly data: {
    readonly worker: string;
    readonly found?: readonly ImportItem[];
    readonly settled?: readonly SettledItem[];
    readonly files?: readonly SettledFile[];
    readonly beyond?: number;
    readonly progressedAt: string;
  };
}
export interface LandImportRun {
  readonly type: 'LandImportRun';
  readonly data: { readonly worker: string; readonly landingAt: string };
}
/** Records what is in the content: a fact, so that whoever saw it may say it. */
export interface CompleteImportRun {
  readonly type: 'CompleteImportRun';
  readonly data: {
    readonly changeRequestId: string;
    readonly revisionId: string;
    readonly merged: boolean;
    readonly pages: readonly ImportedPage[];
    readonly failed: number;
    readonly reason?: string;
    readonly completedAt: string;
  };
}
export interface FailImportRun {
  readonly type: 'FailImportRun';
  readonly data: {
    /** Absent: whoever works on it, since its time is over. */
    readonly worker?: string;
    readonly code: string;
    readonly reason: string;
    readonly failedAt: string;
  };
}
export interface CancelImportRun {
  readonly type: 'CancelImportRun';
  readonly data: { readonly cancelledBy: string; readonly cancelledAt: string };
}
export interface ClearImportRun {
  readonly type: 'ClearImportRun';
  readonly data: { readonly clearedAt: string };
}
export type ImportRunCommand =
  | RequestImportRun
  | TakeImportRun
  | ProgressImportRun
  | LandImportRun
  | CompleteImportRun
  | FailImportRun
  | CancelImportRun
  | ClearImportRun;

const isActive = ({ status }: KnownImportRun): boolean => status === 'pending' || status === 'in-progress';
const idsOf = ({ request: { importRunId, organizationId, spaceId } }: KnownImportRun) => ({
  importRunId,
  organizationId,
  spaceId,
});

/** @throws Problem conflict (code `import.ended`, or `import.taken` by another process) */
const assertMine = (state: KnownImportRun, worker: string): void => {
  if (!isActive(state)) throw conflict('import.ended', 'The import has ended already.');
  if (state.worker !== worker) throw conflict('import.taken', 'Another process works on this import.');
};

const decide = (command: ImportRunCommand, state: ImportRunState): readonly ImportRunEvent[] => {
  if (command.type === 'RequestImportRun') {
    if (state.status === 'none') return [{ type: 'ImportRunRequested', data: command.data }];
    if (state.request.requestedBy === command.data.requestedBy) return [];
    throw conflict('import.exists', 'This import exists already.');
  }
  if (state.status === 'none') throw notFound('import run');
  const ids = idsOf(state);
  switch (command.type) {
    case 'TakeImportRun':
      if (!isActive(state)) throw conflict('import.ended', 'The import has ended already.');
      if (state.worker === command.data.worker) return [];
      return [{ type: 'ImportRunTaken', data: { ...ids, ...command.data } }];
    case 'ProgressImportRun':
      return progress(command, state);
    case 'LandImportRun':
      assertMine(state, command.data.worker);
      return state.landing ? [] : [{ type: 'ImportRunLanding', data: { ...ids, landingAt: command.data.landingAt } }];
    case 'CompleteImportRun':
      if (state.status === 'completed') return [];
      if (!state.landing || !isActive(state)) throw conflict('import.ended', 'The import has ended already.');
      return [{ type: 'ImportRunCompleted', data: { ...ids, ...command.data } }];
    case 'FailImportRun': {
      const { worker, ...data } = command.data;
      if (!isActive(state)) return [];
      if (worker !== undefined) assertMine(state, worker);
      return [{ type: 'ImportRunFailed', data: { ...ids, ...data } }];
    }
    case 'CancelImportRun':
      if (state.status === 'cancelled') return [];
      if (!isActive(state)) throw invalid('import.ended', `The import is ${state.status}; it cannot be cancelled.`);
      if (state.landing)
        throw invalid('import.landing', 'The import is going into the content; it cannot be cancelled any more.');
      return [{ type: 'ImportRunCancelled', data: { ...ids, ...command.data } }];
    case 'ClearImportRun':
      return isActive(state) || state.cleared ? [] : [{ type: 'ImportRunCleared', data: { ...ids, ...command.data } }];
    default:
      return assertNever(command);
  }
};

const progress = ({ data }: ProgressImportRun, state: KnownImportRun): readonly ImportRunEvent[] => {
  const { worker, progressedAt, beyond = 0 } = data;
  assertMine(state, worker);
  if (state.landing) throw conflict('import.ended', 'Everything of this import is read already.');
  const found = (data.found ?? []).filter(({ id }) => !state.items.has(id));
  const settled = (data.settled ?? []).filter(({ id }) => !state.settled.has(id));
  const files = (data.files ?? []).filter(({ address }) => !state.files.has(address));
  if (found.length + settled.length + files.length + beyond === 0) return [];
  return [{ type: 'ImportRunProgressed', data: { ...idsOf(state), found, settled, files, beyond, progressedAt } }];
};

/** The rules of one import: one process at a time, and an end that nothing follows. */
export const importRunDecider: Decider<ImportRunState, ImportRunCommand, ImportRunEvent> = {
  initialState,
  decide,
  evolve,
};
