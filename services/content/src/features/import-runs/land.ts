import { createHash } from 'node:crypto';
import { createIdSource, isProblem, type OperationContext } from '@bindery/service-kit';
import { permissionsOf } from '../access/index.ts';
import { serviceMetadata } from '../change-requests/index.ts';
import { applyChanges, splitRevision } from '../revisions/index.ts';
import type { CompleteImportRun } from './decider.ts';
import type { ImportRunDeps } from './deps.ts';
import type { ImportRequest } from './events.ts';
import { type Assembled, assemble } from './plan/assemble.ts';
import { reportOf } from './report.ts';
import type { Staging } from './source/staging.ts';
import type { KnownImportRun } from './state.ts';
import { ImportFailed } from './work-context.ts';

/** Decided anew so often when others change the same change request. */
const maxAttempts = 20;

/** An id that is the same on every attempt. */
const derivedId = (...names: readonly string[]): string =>
  `i${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 23)}`;

const hostOf = ({ source }: ImportRequest): string =>
  source.type === 'website' ? new URL(source.url).hostname.slice(0, 80) : 'files';

/**
 * Brings what was read into the content: into the change request that was named, else into one of its own that is merged at
 * once. Merge rules hold; when they are not met, that change request stays open for review. Done again, by whichever
 * process, it comes to the same: the ids of everything are derived from that of the import.
 */
export const createLanding = (deps: ImportRunDeps & { readonly staging: Staging }) => {
  const { changeRequestRepository, spaceRepository, reader, clock, staging } = deps;

  const contextOf = (request: ImportRequest, now: Date, signal: AbortSignal): OperationContext => ({
    principal: { kind: 'user', id: request.requestedBy, tokenId: 'import', instanceAdmin: false, organizations: {} },
    requestId: request.importRunId,
    now,
    ids: createIdSource(`import ${request.importRunId}`),
    signal,
    baseUrl: request.baseUrl,
  });

  /** Whoever started it must still be allowed to. @throws ImportFailed */
  const spaceFor = async (request: ImportRequest, context: OperationContext) => {
    const { spaceId, requestedBy, changeRequestId } = request;
    const space = (await deps.spaces.get(spaceId))?.document;
    if (space === undefined || space.deleted) throw new ImportFailed('no_space', 'The space was deleted meanwhile.');
    const level = (await deps.levelsOf(context, space, [requestedBy])).get(requestedBy) ?? null;
    const may = permissionsOf(level, space.editMode === 'locked');
    if (!may.edit || (changeRequestId === undefined && !may.merge))
      throw new ImportFailed('forbidden', 'Whoever started the import may not change the space any more.');
    return space;
  };

  /** Opens the change request of an import into the primary content. */
  const open = async (request: ImportRequest): Promise<string> => {
    const { importRunId, spaceId, organizationId, requestedBy: createdBy, requestedAt: createdAt } = request;
    const changeRequestId = derivedId(importRunId, 'change request');
    const metadata = (step: string) => serviceMetadata(`import:${importRunId}:${step}`, organizationId, clock.now());
    const subject = `Import from ${hostOf(request)}`;
    const data = { changeRequestId, subject, status: 'open', createdBy, createdAt } as const;
    const { state } = await spaceRepository.handle(spaceId, { type: 'NumberChangeRequest', data }, metadata('number'));
    const numbered = state.status === 'none' ? undefined : state.changeRequests.get(changeRequestId);
    if (numbered === undefined) throw new ImportFailed('no_space', 'The space was deleted meanwhile.');
    const { number, initialStatus: status, revisionInitial } = numbered;
    const opened = {
      spaceId,
      organizationId,
      changeRequestId,
      number,
      subject: numbered.subject,
      status,
      revisionInitial,
    };
    const command = { type: 'OpenChangeRequest', data: { ...opened, createdBy, createdAt } } as const;
    await changeRequestRepository.handle(changeRequestId, command, metadata('open'));
    await deps.counts.changed(spaceId);
    return changeRequestId;
  };

  const edit = async (run: KnownImportRun, changeRequestId: string, signal: AbortSignal): Promise<Assembled> => {
    const { request } = run;
    const { importRunId, spaceId, organizationId, requestedBy } = request;
    const revisionId = derivedId(importRunId, 'edit');
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      await deps.repair(changeRequestId);
      const { state } = await changeRequestRepository.load(changeRequestId);
      if (state.status === 'none') throw new ImportFailed('no_change_request', 'The change request is not there.');
      const done = await reader.info(spaceId, revisionId);
      const parent = done?.parents[0] ?? state.revision;
      const tree = await reader.tree(spaceId, parent, { changeRequestId });
      const now = clock.now();
      const assembled = await assemble({
        ...{ run, tree, signal, now: now.toISOString() },
        staged: (blob) => staging.get(blob),
        derivedId: (name) => derivedId(importRunId, name),
      });
      if (done !== undefined) return assembled;
      const data = { revisionId, parent, parts: splitRevision(assembled), touched: [], editedBy: requestedBy };
      const metadata = serviceMetadata(`import:${importRunId}:edit:${parent}`, organizationId, now);
      try {
        const command = { type: 'EditChangeRequest', data: { ...data, editedAt: now.toISOString() } } as const;
        await changeRequestRepository.handle(changeRequestId, command, metadata);
        reader.remember(spaceId, revisionId, applyChanges(tree, assembled.changes));
        return assembled;
      } catch (error) {
        if (!isProblem(error) || error.kind !== 'conflict') throw error;
        if (error.code !== 'change_request.moved') throw new ImportFailed('change_request', error.message);
      }
    }
    throw new ImportFailed('busy', 'The change request keeps changing; start the import again.');
  };

  return async (run: KnownImportRun, signal: AbortSignal): Promise<CompleteImportRun['data']> => {
    const { request } = run;
    const { importRunId, spaceId } = request;
    const context = contextOf(request, clock.now(), signal);
    const space = await spaceFor(request, context);
    const changeRequestId = request.changeRequestId ?? (await open(request));
    const { pages, problems } = await edit(run, changeRequestId, signal);
    const more: string[] = [];
    let revisionId = derivedId(importRunId, 'edit');
    let merged = false;
    if (request.changeRequestId === undefined) {
      try {
        const factsOf = deps.policy.factsFor(context, space);
        const answer = await deps.merging.merge(context, spaceId, changeRequestId, factsOf);
        merged = answer.result === 'merge';
        if (merged) revisionId = answer.revision;
        else more.push('The pages are in a change request, which has conflicts with the primary content.');
      } catch (error) {
        if (!isProblem(error) || (error.kind !== 'forbidden' && error.kind !== 'conflict')) throw error;
        const { state } = await changeRequestRepository.load(changeRequestId);
        // Somebody else merged it before this process could.
        merged = state.status === 'merged';
        if (!merged) more.push(`The pages are in a change request, which was not merged: ${error.message}`);
      }
    }
    const completedAt = clock.now().toISOString();
    return { changeRequestId, revisionId, merged, pages, completedAt, ...reportOf(run, problems, more) };
  };
};
