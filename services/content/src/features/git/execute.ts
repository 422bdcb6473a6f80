import { createHash } from 'node:crypto';
import {
  type GitCredentials,
  GitSyncFailed,
  isGitSyncFailed,
  openRepository,
  type Repository,
} from '@bindery/git-sync';
import { createIdSource, isProblem } from '@bindery/service-kit';
import { mergeRevisions, serviceMetadata } from '../change-requests/index.ts';
import {
  diffTrees,
  emptyTree,
  type RevisionChange,
  type RevisionTree,
  type StoredDocument,
  splitRevision,
} from '../revisions/index.ts';
import type { CompleteGitSync, GitSyncCommand } from './decider.ts';
import type { GitDeps } from './deps.ts';
import type { GitCommit, GitOperationRequest, GitPlace } from './events.ts';
import { type KnownPlaces, placeChanges } from './places.ts';
import { planExport } from './plan-export.ts';
import { type ImportedContent, planImport } from './plan-import.ts';
import { type GitPlacesDocument, gitPlacesCollection } from './read-model.ts';
import type { SyncedState } from './state.ts';

/** An operation that this process works on. */
export interface Work {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly operation: GitOperationRequest;
  readonly credentials?: GitCredentials;
}

/** How often it is tried again when the other side changes meanwhile. */
const maxAttempts = 5;

/** What a stranger's server or file name says, fit to be shown. */
const shown = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .slice(0, 1000);

/** An id that is the same on every attempt. */
const derivedId = (...names: readonly string[]): string =>
  `g${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 23)}`;

/** What a revision is made of. */
interface Content {
  readonly changes: readonly RevisionChange[];
  readonly documents: readonly StoredDocument[];
}
type Outcome = Omit<CompleteGitSync['data'], 'operationId' | 'endedAt' | 'put' | 'gone' | 'commit'>;

/** Does what an operation asks for, and records that it is done. Done again, it comes to the same. */
export const createExecutor = (deps: GitDeps) => {
  const { repository, spaceRepository, reader, blobs, clock } = deps;

  const placesOf = async (spaceId: string): Promise<KnownPlaces> => {
    const stored = await deps.live<GitPlacesDocument>(gitPlacesCollection).get(spaceId);
    return new Map(Object.entries(stored?.document.places ?? {}).map(([id, place]) => [id, { id, ...place }]));
  };
  const handle = async (work: Work, command: GitSyncCommand, ...step: readonly string[]): Promise<void> => {
    const cause = ['git', work.operation.operationId, command.type, ...step].join(':');
    await repository.handle(work.spaceId, command, serviceMetadata(cause, work.organizationId, clock.now()));
  };
  const complete = (
    work: Work,
    commit: GitCommit,
    outcome: Outcome,
    places: { readonly put: readonly GitPlace[]; readonly gone: readonly string[] },
  ): Promise<void> => {
    const { operationId } = work.operation;
    const endedAt = clock.now().toISOString();
    return handle(work, { type: 'CompleteGitSync', data: { operationId, commit, endedAt, ...outcome, ...places } });
  };
  const headOf = async (spaceId: string): Promise<string> => {
    const { state } = await spaceRepository.load(spaceId);
    if (state.status !== 'active' || state.head === null)
      throw new GitSyncFailed('unusable', 'The space was deleted meanwhile.');
    return state.head;
  };
  const open = (work: Work, signal: AbortSignal, more: { readonly missing?: 'begin' } = {}): Promise<Repository> => {
    const { url, ref } = work.operation;
    const { credentials } = work;
    return openRepository({
      fetch: deps.fetch,
      url,
      ref,
      signal,
      ...(credentials === undefined ? {} : { credentials }),
      ...(deps.limits === undefined ? {} : { limits: deps.limits }),
      ...more,
    });
  };
  const documentsOf = (work: Work) => (ids: readonly string[]) =>
    reader.bodies(work.spaceId, ids, { changeRequestId: work.operation.operationId });

  /** Records the content of a commit beside the primary line. */
  const record = async (work: Work, commit: GitCommit, parent: string, content: Content): Promise<string> => {
    const { operationId, startedBy } = work.operation;
    const revisionId = derivedId(operationId, 'commit', commit.oid, parent);
    const data = { operationId, revisionId, parents: [parent], parts: splitRevision(content), createdBy: startedBy };
    await handle(
      work,
      { type: 'RecordGitRevision', data: { ...data, createdAt: clock.now().toISOString() } },
      revisionId,
    );
    return revisionId;
  };
  /** Makes content the head of the space. @returns false when the head is another one meanwhile */
  const commitToSpace = async (
    work: Work,
    revisionId: string,
    parents: readonly string[],
    content: Content,
  ): Promise<boolean> => {
    const data = {
      revisionId,
      revisionType: parents.length > 1 ? ('merge' as const) : ('edits' as const),
      parents,
      parts: splitRevision(content),
      createdBy: work.operation.startedBy,
      createdAt: clock.now().toISOString(),
    };
    const metadata = serviceMetadata(`git:commit:${revisionId}`, work.organizationId, clock.now());
    try {
      await spaceRepository.handle(work.spaceId, { type: 'CommitRevision', data }, metadata);
      return true;
    } catch (error) {
      if (isProblem(error) && error.code === 'revision.head_moved') return false;
      throw error;
    }
  };

  /** Lands what a commit says in the space. @returns undefined when the space changed meanwhile */
  const land = async (
    work: Work,
    commit: GitCommit,
    imported: ImportedContent,
    base: RevisionTree,
    synced: SyncedState | undefined,
  ): Promise<Outcome | undefined> => {
    const { spaceId, operation } = work;
    const appended = { changeRequestId: operation.operationId };
    const head = await headOf(spaceId);
    const { tree, documents } = imported;
    const headTree = await reader.tree(spaceId, head, appended);
    const landed = derivedId(operation.operationId, 'landed', commit.oid);
    // It was landed before this process was asked, and only that was not recorded.
    if (head === landed && !operation.standalone) return { revisionId: head, syncedRevisionId: head, changed: true };
    if (operation.standalone) {
      const changes = diffTrees(headTree, tree);
      if (changes.length === 0) return { revisionId: head, changed: false };
      return { revisionId: await record(work, commit, head, { changes, documents }), changed: true };
    }
    if (synced === undefined || synced.revisionId === head || operation.force) {
      const changes = diffTrees(headTree, tree);
      if (changes.length === 0) return { revisionId: head, syncedRevisionId: head, changed: false };
      const made = derivedId(operation.operationId, 'landed', commit.oid);
      if (!(await commitToSpace(work, made, [head], { changes, documents }))) return undefined;
      return { revisionId: made, syncedRevisionId: made, changed: true };
    }
    const changes = diffTrees(base, tree);
    if (changes.length === 0) return { revisionId: head, syncedRevisionId: synced.revisionId, changed: false };
    // Both sides changed: what the repository says becomes a revision beside the line, and is merged into it.
    const branch = await record(work, commit, synced.revisionId, { changes, documents });
    const newId = () => createIdSource().id();
    const revisions = { spaceId, ...appended, base: synced.revisionId, primary: head, branch };
    const merged = await mergeRevisions(reader, revisions, newId);
    if (merged.changes.length === 0) return { revisionId: head, syncedRevisionId: branch, changed: false };
    const made = derivedId(operation.operationId, 'merged', commit.oid, head);
    if (!(await commitToSpace(work, made, [head, branch], merged))) return undefined;
    return { revisionId: made, syncedRevisionId: branch, changed: true };
  };

  const importFrom = async (work: Work, signal: AbortSignal): Promise<void> => {
    const { spaceId, operation } = work;
    const { state } = await repository.load(spaceId);
    const synced = state.status === 'none' ? undefined : state.synced;
    const appended = { changeRequestId: operation.operationId };
    const source = await open(work, signal);
    const { commit } = source;
    if (commit === undefined) throw new GitSyncFailed('no-branch', `The repository has no ${operation.ref}.`);
    const base = synced === undefined ? emptyTree : await reader.tree(spaceId, synced.revisionId, appended);
    const places = await placesOf(spaceId);
    const ids = createIdSource();
    const imported = await planImport({
      repository: source,
      directory: operation.directory,
      spaceId,
      baseUrl: operation.baseUrl,
      base,
      since: synced?.revisionId ?? '',
      places,
      documents: documentsOf(work),
      blobs,
      newId: () => ids.id(),
      now: clock.now().toISOString(),
      signal,
    });
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      signal.throwIfAborted();
      const outcome = await land(work, commit, imported, base, synced);
      if (outcome === undefined) continue;
      const changes = operation.standalone ? { put: [], gone: [] } : placeChanges(places, imported.places);
      await complete(work, commit, outcome, changes);
      return;
    }
    throw new GitSyncFailed('busy', 'The content of the space keeps changing; try again in a moment.');
  };

  const exportOnce = async (work: Work, signal: AbortSignal): Promise<void> => {
    const { spaceId, operation } = work;
    const { state } = await repository.load(spaceId);
    const synced = state.status === 'none' ? undefined : state.synced;
    const head = await headOf(spaceId);
    const target = await open(work, signal, { missing: 'begin' });
    const places = await placesOf(spaceId);
    const exported = await planExport({
      repository: target,
      directory: operation.directory,
      spaceId,
      baseUrl: operation.baseUrl,
      tree: await reader.tree(spaceId, head, { changeRequestId: operation.operationId }),
      places,
      ours: synced !== undefined && synced.url === operation.url && synced.directory === operation.directory,
      force: operation.force,
      documents: documentsOf(work),
      blobs,
      signal,
    });
    signal.throwIfAborted();
    const pushed = await target.push(exported.changes, {
      message: operation.commitMessage ?? 'Export',
      author: { name: 'Bindery', email: `git-sync@${new URL(operation.baseUrl).hostname}` },
      at: new Date(operation.startedAt),
    });
    const commit = pushed ?? target.commit;
    if (commit === undefined) throw new GitSyncFailed('unusable', 'There is nothing to export.');
    const outcome = { revisionId: head, syncedRevisionId: head, changed: pushed !== undefined };
    await complete(work, commit, outcome, placeChanges(places, exported.places));
  };

  const exportTo = async (work: Work, signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await exportOnce(work, signal);
        return;
      } catch (error) {
        // Somebody else's commit came first: ours goes on top of it.
        if (!isGitSyncFailed(error) || error.reason !== 'behind' || attempt >= maxAttempts) throw error;
      }
    }
  };

  return {
    run: (work: Work, signal: AbortSignal): Promise<void> =>
      work.operation.direction === 'import' ? importFrom(work, signal) : exportTo(work, signal),
    fail: (work: Work, state: 'failure' | 'timeout', reason: string, error: string): Promise<void> => {
      const { operationId } = work.operation;
      const endedAt = clock.now().toISOString();
      return handle(work, { type: 'FailGitSync', data: { operationId, state, reason, error: shown(error), endedAt } });
    },
  };
};
export type GitExecutor = ReturnType<typeof createExecutor>;
