import { type importRunOperations, limits } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, invalid, notFound, type OperationContext } from '@bindery/service-kit';
import type { ImportRunDeps } from '../deps.ts';
import type { ImportRequest, ImportSource } from '../events.ts';
import { presentImportRun } from '../present.ts';
import { type ImportRunsCollection, requestedDocument } from '../read-model.ts';
import type { ImportRunner } from '../runner.ts';
import { canonicalUrl } from '../source/scope.ts';

export interface StartDeps extends ImportRunDeps {
  readonly runs: ImportRunsCollection;
  readonly runner: ImportRunner;
}

/** @throws Problem invalid for what cannot be imported whatever it is */
const checkSource = async (
  { uploads }: Pick<ImportRunDeps, 'uploads'>,
  context: OperationContext,
  organizationId: string,
  source: ImportSource,
): Promise<void> => {
  if (source.type === 'website') {
    if (canonicalUrl(source.url) === undefined)
      throw invalid('import.invalid_url', 'body.source.url: is not an http or https address without a user name.');
    return;
  }
  for (const [index, key] of source.files.entries())
    if ((await uploads.find(key, organizationId, context.principal)) === undefined)
      throw invalid('import.no_upload', `body.source.files[${index}]: you have no such upload.`);
};

/** POST /org/{organizationId}/imports. What is to be done is recorded, then done beside the request. */
export const startImportRun =
  (deps: StartDeps): HandlersFor<typeof importRunOperations>['startImportRun'] =>
  async (context, { params: { organizationId }, body }) => {
    const { source, target, site, enhance = true } = body;
    deps.access.organization(context, organizationId, 'view');
    await checkSource(deps, context, organizationId, source);
    const { space } = await deps.access.space(context, target.space, 'edit');
    if (space.organizationId !== organizationId) throw notFound('space');
    if (target.changeRequest === undefined) await deps.access.space(context, space.id, 'merge');
    const changeRequest =
      target.changeRequest === undefined ? undefined : await deps.changeRequests.find(space.id, target.changeRequest);
    if (target.changeRequest !== undefined && changeRequest === undefined) throw notFound('change request');
    if (changeRequest?.document.status === 'merged' || changeRequest?.document.status === 'archived')
      throw invalid('import.not_open', `body.target.changeRequest: is ${changeRequest.document.status}.`);
    if (target.page !== undefined) {
      const tree = await deps.reader.tree(space.id, changeRequest?.document.revision ?? space.revision);
      const page = tree.page(target.page);
      if (page === undefined) throw notFound('page');
      if (page.type === 'link') throw invalid('import.under_link', 'body.target.page: nothing can be below a link.');
    }
    const { active, minutes } = limits.importRun;
    if ((await deps.runs.count({ organizationId, active: true })) >= active)
      throw invalid('import.too_many', `${active} imports of this organization run already; wait for one to end.`);
    const data: ImportRequest = {
      importRunId: context.ids.id(),
      organizationId,
      spaceId: space.id,
      ...(changeRequest === undefined ? {} : { changeRequestId: changeRequest.id }),
      ...(target.page === undefined ? {} : { pageId: target.page }),
      ...(site === undefined ? {} : { siteId: site }),
      source,
      enhance,
      baseUrl: context.baseUrl,
      requestedBy: context.principal.id,
      requestedAt: context.now.toISOString(),
      timeoutAt: new Date(context.now.getTime() + minutes * 60_000).toISOString(),
    };
    const metadata = commandMetadata(context, organizationId);
    const command = { type: 'RequestImportRun', data } as const;
    await deps.repository.handle(data.importRunId, command, metadata, { likelyNew: true });
    await deps.counts.changed(space.id);
    deps.runner.begin(data.importRunId);
    const run = presentImportRun(context.baseUrl, requestedDocument(data), []);
    return { status: 201, body: run, location: run.urls?.location ?? '' };
  };
