import { type CommandMetadata, commandMetadata } from '@bindery/event-sourcing';
import {
  conflict,
  isProblem,
  notFound,
  type OperationContext,
  type Problem,
  preconditionFailed,
} from '@bindery/service-kit';
import { applyChanges, diffTrees, splitRevision } from '../revisions/index.ts';
import { mergeTimeoutMs } from './decider.ts';
import type { MergeDeps } from './deps.ts';
import type { FactsOf } from './merge-policy.ts';
import { requireRules } from './merge-rules.ts';
import { changeRequestKey, type Serial, spaceKey } from './serial.ts';
import type { OpenedChangeRequest, PendingMerge } from './state.ts';
import { mergeRevisions, type ThreeWayResult } from './three-way.ts';

/** What merging and updating answer. */
export interface MergeAnswer<R extends 'merge' | 'update'> {
  readonly revision: string;
  readonly result: R | 'conflicts';
}

/**
 * Brings branches and primary content together. A merge goes over two streams: the change request's is frozen
 * (`ChangeRequestMergeStarted`), the space's gets the revision (`RevisionCommitted`), then the change request is marked
 * (`ChangeRequestMerged`). Whatever is cut off after the second step is finished by a reactor; whatever was cut off before
 * it is given up after 30 s, first in the space (so that a late commit is refused), then in the change request.
 */
export interface Merging {
  /**
   * @param factsOf what the merge rules are decided with
   * @param expected revision of the change request's stream that the caller saw (`If-Match`)
   * @throws Problem conflict while it cannot be merged or its rules are not met, precondition when it is elsewhere
   */
  merge(
    context: OperationContext,
    spaceId: string,
    changeRequestId: string,
    factsOf: FactsOf,
    expected?: number,
  ): Promise<MergeAnswer<'merge'>>;
  /**
   * @param expected as in `merge`
   * @throws Problem conflict while it cannot be updated, precondition when it is elsewhere
   */
  update(
    context: OperationContext,
    spaceId: string,
    changeRequestId: string,
    expected?: number,
  ): Promise<MergeAnswer<'update'>>;
  /**
   * Finishes or gives up a merge that has been under way for too long, before a command is decided on its change request.
   * @returns the state afterwards
   * @throws Problem not-found
   */
  settled(changeRequestId: string, metadata: CommandMetadata): Promise<OpenedChangeRequest>;
}

/** Decided anew so often when other processes keep changing the same content. */
const maxAttempts = 20;

const hasCode = (error: unknown, code: string): boolean => isProblem(error) && error.code === code;
/** Options of a command that is to find the stream where the caller saw it. */
const seen = (expected: number | undefined) => (expected === undefined ? {} : { expectedRevision: expected });
const busy = (): Problem =>
  conflict('change_request.busy', 'The content keeps changing; try to merge again in a moment.');

/** @param serial shared with whatever else changes content, so that work of one process waits instead of colliding */
export const createMerging = (deps: MergeDeps, serial: Serial): Merging => {
  const { repository, spaceRepository, reader, counts } = deps;

  const load = async (changeRequestId: string): Promise<OpenedChangeRequest> => {
    const { state } = await repository.load(changeRequestId);
    if (state.status === 'none') throw notFound('change request');
    return state;
  };
  const spaceOf = async (spaceId: string) => {
    const { state } = await spaceRepository.load(spaceId);
    if (state.status !== 'active' || state.head === null) throw notFound('space');
    return { head: state.head, mergeRules: state.settings.mergeRules };
  };
  const headOf = async (spaceId: string): Promise<string> => (await spaceOf(spaceId)).head;

  /** Keeps the commit out of the space, then sets the change request free; or marks it when the commit was there. */
  const giveUp = async (
    state: OpenedChangeRequest,
    pending: PendingMerge,
    metadata: CommandMetadata,
  ): Promise<void> => {
    const { changeRequestId, spaceId } = state;
    const { mergeId } = pending;
    const abandonedAt = metadata.now.toISOString();
    const space = await spaceRepository.handle(
      spaceId,
      { type: 'AbandonMerge', data: { changeRequestId, mergeId, abandonedAt } },
      metadata,
    );
    const merged = space.state.status === 'none' ? undefined : space.state.changeRequests.get(changeRequestId)?.merged;
    if (merged === undefined) {
      await repository.handle(changeRequestId, { type: 'AbandonMerge', data: { mergeId, abandonedAt } }, metadata);
      return;
    }
    const { revisionId, by, at } = merged;
    const data = { mergeId: revisionId, revisionMerged: revisionId, mergedBy: by, mergedAt: at };
    await repository.handle(changeRequestId, { type: 'CompleteMerge', data }, metadata);
    await counts.changed(spaceId);
  };

  const settled: Merging['settled'] = async (changeRequestId, metadata) => {
    const state = await load(changeRequestId);
    const pending = state.merging;
    if (pending === undefined || metadata.now.getTime() - Date.parse(pending.startedAt) < mergeTimeoutMs) return state;
    await giveUp(state, pending, metadata);
    return load(changeRequestId);
  };

  const mergeBranch = (state: OpenedChangeRequest, primary: string, newId: () => string): Promise<ThreeWayResult> => {
    const { spaceId, changeRequestId, revisionMergedAncestor: base, revision: branch } = state;
    return mergeRevisions(reader, { spaceId, changeRequestId, base, primary, branch }, newId);
  };

  /** Whether somebody has yet to look at what a merge or update brought together (ADR 6). A page that is gone needs it no more. */
  const isHeldBack = async ({
    conflicts,
    spaceId,
    revision,
    changeRequestId,
  }: OpenedChangeRequest): Promise<boolean> => {
    if (conflicts === undefined) return false;
    if (conflicts.others) return true;
    const branch = await reader.tree(spaceId, revision, { changeRequestId });
    return conflicts.pages.some((id) => branch.page(id) !== undefined);
  };

  /** Puts the merged content on the branch. */
  const putOnBranch = async (
    context: OperationContext,
    metadata: CommandMetadata,
    state: OpenedChangeRequest,
    revisionId: string,
    primary: string,
    merged: ThreeWayResult,
    expected: number | undefined,
  ): Promise<void> => {
    const branch = await reader.tree(state.spaceId, state.revision, state);
    const changes = diffTrees(branch, merged.tree);
    await repository.handle(
      state.changeRequestId,
      {
        type: 'UpdateChangeRequest',
        data: {
          revisionId,
          parents: [state.revision, primary],
          primaryRevision: primary,
          parts: splitRevision({ changes, documents: merged.documents }),
          conflicts: merged.conflicts,
          updatedBy: context.principal.id,
          updatedAt: context.now.toISOString(),
        },
      },
      metadata,
      seen(expected),
    );
    reader.remember(state.spaceId, revisionId, applyChanges(branch, changes));
  };

  const update: Merging['update'] = async (context, spaceId, changeRequestId, expected) => {
    const metadata = commandMetadata(context);
    const revisionId = context.ids.id();
    for (let attempt = 0; attempt < maxAttempts && !context.signal.aborted; attempt += 1) {
      const state = await settled(changeRequestId, metadata);
      const primary = await headOf(spaceId);
      const upToDate = state.status !== 'merged' && state.revisionMergedAncestor === primary;
      if (state.revision === revisionId) return { revision: revisionId, result: 'update' };
      if (upToDate) {
        // Nothing is written that could check it.
        if (expected !== undefined && (await repository.load(changeRequestId)).revision !== expected)
          throw preconditionFailed('If-Match: the change request has changed since; read it again.');
        return { revision: state.revision, result: 'update' };
      }
      const merged = await mergeBranch(state, primary, () => context.ids.id());
      try {
        await putOnBranch(context, metadata, state, revisionId, primary, merged, expected);
        return { revision: revisionId, result: merged.conflicts.length === 0 ? 'update' : 'conflicts' };
      } catch (error) {
        if (!hasCode(error, 'change_request.moved')) throw error;
      }
    }
    throw busy();
  };

  const merge: Merging['merge'] = async (context, spaceId, changeRequestId, factsOf, ifSeen) => {
    const metadata = commandMetadata(context);
    const [mergeId, conflictRevision] = [context.ids.id(), context.ids.id()];
    let expected = ifSeen;
    const [startedBy, startedAt] = [context.principal.id, context.now.toISOString()];
    for (let attempt = 0; attempt < maxAttempts && !context.signal.aborted; attempt += 1) {
      const state = await settled(changeRequestId, metadata);
      if (state.merged?.mergeId === mergeId) return { revision: mergeId, result: 'merge' };
      if (state.revision === conflictRevision) return { revision: conflictRevision, result: 'conflicts' };
      // It was as expected when this merge started; what moved it since is the start itself.
      if (state.merging?.mergeId === mergeId) expected = undefined;
      const isFree = state.status !== 'merged' && state.merging === undefined;
      if (isFree && (await isHeldBack(state))) return { revision: state.revision, result: 'conflicts' };
      const { head: primary, mergeRules } = await spaceOf(spaceId);
      const facts = await factsOf(state, primary, mergeRules);
      // Before anything is put on the branch; decided once more where the merge starts.
      if (isFree) requireRules(state, facts, startedBy);
      const merged = state.status === 'merged' ? undefined : await mergeBranch(state, primary, () => context.ids.id());
      try {
        if (merged !== undefined && merged.conflicts.length > 0) {
          if (state.merging?.mergeId === mergeId) {
            // The space moved under us, and now it conflicts.
            await giveUp(state, state.merging, metadata);
            continue;
          }
          await putOnBranch(context, metadata, state, conflictRevision, primary, merged, expected);
          return { revision: conflictRevision, result: 'conflicts' };
        }
        const start = { mergeId, revisionId: state.revision, startedBy, startedAt, facts };
        await repository.handle(changeRequestId, { type: 'StartMerge', data: start }, metadata, seen(expected));
        if (merged === undefined) throw busy();
        await commit(context, metadata, state, { mergeId, primary, merged });
        return { revision: mergeId, result: 'merge' };
      } catch (error) {
        if (hasCode(error, 'change_request.moved') || hasCode(error, 'revision.head_moved')) continue;
        // The space moved under us, and now a rule is not met.
        if (state.merging?.mergeId === mergeId && hasCode(error, 'change_request.merge_rules')) {
          await giveUp(state, state.merging, metadata);
          if ((await load(changeRequestId)).merged?.mergeId === mergeId) continue;
        }
        throw error;
      }
    }
    const state = await load(changeRequestId);
    if (state.merging?.mergeId === mergeId) await giveUp(state, state.merging, metadata);
    throw busy();
  };

  const commit = async (
    context: OperationContext,
    metadata: CommandMetadata,
    state: OpenedChangeRequest,
    it: { readonly mergeId: string; readonly primary: string; readonly merged: ThreeWayResult },
  ): Promise<void> => {
    const { mergeId, primary, merged } = it;
    const { spaceId, changeRequestId, revision } = state;
    const [createdBy, createdAt] = [context.principal.id, context.now.toISOString()];
    const { changes, documents } = merged;
    await spaceRepository.handle(
      spaceId,
      {
        type: 'CommitRevision',
        data: {
          revisionId: mergeId,
          revisionType: 'merge',
          parents: [primary, revision],
          parts: splitRevision({ changes, documents }),
          mergedFrom: { changeRequestId, revisionId: revision },
          createdBy,
          createdAt,
        },
      },
      metadata,
    );
    const before = await reader.tree(spaceId, primary, state);
    reader.remember(spaceId, mergeId, applyChanges(before, changes));
    const data = { mergeId, revisionMerged: mergeId, mergedBy: createdBy, mergedAt: createdAt };
    await repository.handle(changeRequestId, { type: 'CompleteMerge', data }, metadata);
    await counts.changed(spaceId);
  };

  return {
    settled,
    update: (context, spaceId, changeRequestId, expected) =>
      serial(changeRequestKey(changeRequestId), () => update(context, spaceId, changeRequestId, expected)),
    merge: (context, spaceId, changeRequestId, factsOf, expected) =>
      serial(spaceKey(spaceId), () =>
        serial(changeRequestKey(changeRequestId), () => merge(context, spaceId, changeRequestId, factsOf, expected)),
      ),
  };
};
