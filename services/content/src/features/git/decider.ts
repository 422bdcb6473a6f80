import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict } from '@bindery/service-kit';
import type { RevisionChange, StoredDocument } from '../revisions/model.ts';
import type { GitCommit, GitOperationRequest, GitPlace, GitSyncEvent } from './events.ts';
import { evolve, type GitSyncStateOfSpace, initialState } from './state.ts';

type Parts = readonly { readonly changes: readonly RevisionChange[]; readonly documents: readonly StoredDocument[] }[];

export interface StartGitSync {
  readonly type: 'StartGitSync';
  readonly data: { readonly spaceId: string; readonly organizationId: string } & GitOperationRequest;
}
/** Records the content of a commit beside the primary line. */
export interface RecordGitRevision {
  readonly type: 'RecordGitRevision';
  readonly data: {
    readonly operationId: string;
    readonly revisionId: string;
    readonly parents: readonly string[];
    readonly parts: Parts;
    readonly createdBy: string;
    readonly createdAt: string;
  };
}
export interface CompleteGitSync {
  readonly type: 'CompleteGitSync';
  readonly data: {
    readonly operationId: string;
    readonly revisionId: string;
    readonly syncedRevisionId?: string;
    readonly commit: GitCommit;
    readonly changed: boolean;
    readonly put: readonly GitPlace[];
    readonly gone: readonly string[];
    readonly endedAt: string;
  };
}
export interface FailGitSync {
  readonly type: 'FailGitSync';
  readonly data: {
    readonly operationId: string;
    readonly state: 'failure' | 'timeout';
    readonly reason: string;
    readonly error: string;
    readonly endedAt: string;
  };
}
export type GitSyncCommand = StartGitSync | RecordGitRevision | CompleteGitSync | FailGitSync;

/** Places in one event. */
const placesPerEvent = 2_000;

/** What is told of an operation that nobody finished in time. */
const timedOut = 'The operation took too long and was given up; the content is as it was.';

const decide = (command: GitSyncCommand, state: GitSyncStateOfSpace): readonly GitSyncEvent[] => {
  switch (command.type) {
    case 'StartGitSync':
      return start(command, state);
    case 'RecordGitRevision':
      return record(command, state);
    case 'CompleteGitSync':
      return complete(command, state);
    case 'FailGitSync':
      return fail(command, state);
    default:
      return assertNever(command);
  }
};

const start = ({ data }: StartGitSync, state: GitSyncStateOfSpace): readonly GitSyncEvent[] => {
  const started: GitSyncEvent = { type: 'GitSyncStarted', data };
  if (state.status === 'none') return [started];
  const { operation, applied, spaceId, organizationId } = state;
  const { operationId, direction, timeoutAt } = operation;
  if (operationId === data.operationId) return [];
  const last = applied[data.direction];
  // Both are ISO times of a caller, in any zone.
  const isOld = data.timestamp !== undefined && last !== undefined && Date.parse(data.timestamp) < Date.parse(last);
  if (isOld && !data.force) return [];
  if (!operation.running) return [started];
  if (data.startedAt < timeoutAt)
    throw conflict('git.busy', `An ${direction} of this space is running; one at a time.`, { operationId });
  const ended = { state: 'timeout', reason: 'timeout', error: timedOut, endedAt: data.startedAt } as const;
  return [{ type: 'GitSyncFailed', data: { spaceId, organizationId, operationId, direction, ...ended } }, started];
};

/** The operation while it is running; it may have been given up meanwhile. */
const running = (state: GitSyncStateOfSpace, operationId: string) => {
  if (state.status === 'none' || state.operation.operationId !== operationId || !state.operation.running)
    throw conflict('git.ended', 'The operation has ended already.');
  return state;
};

const record = ({ data }: RecordGitRevision, state: GitSyncStateOfSpace): readonly GitSyncEvent[] => {
  const { spaceId, organizationId, recorded } = running(state, data.operationId);
  const { parts, ...revision } = data;
  if (recorded.includes(revision.revisionId)) return [];
  const before = parts.slice(0, -1);
  const last = parts.at(-1) ?? { changes: [], documents: [] };
  return [
    ...before.map(
      (part, index): GitSyncEvent => ({
        type: 'GitRevisionPartRecorded',
        data: { spaceId, revisionId: revision.revisionId, part: index, ...part },
      }),
    ),
    { type: 'GitRevisionRecorded', data: { spaceId, organizationId, ...revision, parts: before.length, ...last } },
  ];
};

const complete = ({ data }: CompleteGitSync, state: GitSyncStateOfSpace): readonly GitSyncEvent[] => {
  const { operationId, put, gone, ...outcome } = data;
  const { spaceId, organizationId, operation } = running(state, operationId);
  const { direction, standalone, ref, repoCommitURL } = operation;
  const url = repoCommitURL === undefined ? {} : { url: `${repoCommitURL.replace(/\/+$/, '')}/${outcome.commit.oid}` };
  const ids = { spaceId, organizationId, operationId };
  const pieces: GitSyncEvent[] = [];
  for (let at = 0; at < Math.max(put.length, gone.length); at += placesPerEvent) {
    const piece = { put: put.slice(at, at + placesPerEvent), gone: gone.slice(at, at + placesPerEvent) };
    pieces.push({ type: 'GitPlacesChanged', data: { ...ids, ...piece } });
  }
  return [...pieces, { type: 'GitSyncCompleted', data: { ...ids, direction, standalone, ref, ...url, ...outcome } }];
};

const fail = ({ data }: FailGitSync, state: GitSyncStateOfSpace): readonly GitSyncEvent[] => {
  if (state.status === 'none' || state.operation.operationId !== data.operationId || !state.operation.running)
    return [];
  const { spaceId, organizationId, operation } = state;
  return [{ type: 'GitSyncFailed', data: { spaceId, organizationId, direction: operation.direction, ...data } }];
};

/** The rules of syncing a space: one operation at a time, in the order of their timestamps. */
export const gitSyncDecider: Decider<GitSyncStateOfSpace, GitSyncCommand, GitSyncEvent> = {
  initialState,
  decide,
  evolve,
};
