import { type importRunOperations, limits } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import type { Where } from '@bindery/read-store';
import { type HandlersFor, isProblem, notFound, type OperationContext } from '@bindery/service-kit';
import { presentImportRun } from '../present.ts';
import { type ImportPagesDocument, type ImportRunDocument, importPagesCollection } from '../read-model.ts';
import { listRuns } from './list.ts';
import type { StartDeps } from './start.ts';

/** The import of a path, when the caller may view its space. @throws Problem not-found */
const located = async (
  deps: StartDeps,
  context: OperationContext,
  params: { readonly organizationId: string; readonly importRunId: string },
): Promise<ImportRunDocument> => {
  deps.access.organization(context, params.organizationId, 'view');
  const document = (await deps.runs.get(params.importRunId))?.document;
  if (document === undefined || document.organizationId !== params.organizationId) throw notFound('import run');
  try {
    await deps.access.space(context, document.spaceId, 'view');
  } catch (error) {
    // Which space it is says nothing to whoever may not view it.
    if (isProblem(error) && error.kind === 'not-found') throw notFound('import run');
    throw error;
  }
  return document;
};

const withPages = async (deps: StartDeps, baseUrl: string, document: ImportRunDocument) => {
  const pages = await deps.live<ImportPagesDocument>(importPagesCollection).get(document.id);
  return presentImportRun(baseUrl, document, pages?.document.pages ?? []);
};

/** GET /org/{organizationId}/imports/{importRunId} */
export const getImportRun =
  (deps: StartDeps): HandlersFor<typeof importRunOperations>['getImportRun'] =>
  async (context, { params }) => ({
    status: 200,
    body: await withPages(deps, context.baseUrl, await located(deps, context, params)),
  });

/** POST /org/{organizationId}/imports/{importRunId}/cancel */
export const cancelImportRun =
  (deps: StartDeps): HandlersFor<typeof importRunOperations>['cancelImportRun'] =>
  async (context, { params }) => {
    const document = await located(deps, context, params);
    await deps.access.space(context, document.spaceId, 'edit');
    const data = { cancelledBy: context.principal.id, cancelledAt: context.now.toISOString() };
    const metadata = commandMetadata(context, document.organizationId);
    await deps.repository.handle(document.id, { type: 'CancelImportRun', data }, metadata);
    deps.runner.cancelled(document.id);
    const after = (await deps.runs.get(document.id))?.document ?? document;
    return { status: 200, body: await withPages(deps, context.baseUrl, after) };
  };

/** GET /org/{organizationId}/imports */
export const listImportRuns =
  (deps: StartDeps): HandlersFor<typeof importRunOperations>['listImportRuns'] =>
  async (context, { params: { organizationId }, query }) => {
    const visible = await deps.access.visibleSpaces(context, organizationId);
    const { space, changeRequest, site, status } = query;
    const numbered =
      space !== undefined && changeRequest !== undefined && /^\d+$/.test(changeRequest)
        ? ((await deps.changeRequests.find(space, changeRequest))?.id ?? changeRequest)
        : changeRequest;
    const where: Where = {
      organizationId,
      ...(space === undefined ? {} : { spaceId: space }),
      ...(numbered === undefined ? {} : { into: numbered }),
      ...(site === undefined ? {} : { site }),
      ...(status === undefined ? {} : status === 'active' ? { active: true } : { status }),
    };
    const page = await listRuns(deps, visible, where, query);
    const items = page.items.map(({ document }) => presentImportRun(context.baseUrl, document));
    return { status: 200, body: { ...page, items } };
  };

/** The newest imports into the primary content of a space, or into a change request. */
export const newestImports =
  ({ runs }: Pick<StartDeps, 'runs'>) =>
  async (baseUrl: string, spaceId: string, into: string) => {
    const found = await runs.query({
      where: { spaceId, into },
      orderBy: [{ field: 'createdAt', direction: 'desc' }],
      limit: limits.importRun.told.runs,
    });
    return found.map(({ document }) => presentImportRun(baseUrl, document));
  };
