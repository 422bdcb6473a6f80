import type { changeRequestOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, notFound } from '@bindery/service-kit';
import { changesOfTemplate } from '../../templates/index.ts';
import { answerChangeRequest, changeRequestAfter } from '../answer.ts';
import { changeRequestLocation } from '../present.ts';
import { type EditDeps, updateChangeRequestContent } from './edit-content.ts';
import { locate } from './located.ts';

/**
 * POST /spaces/{spaceId}/change-requests. The space gives the number, then the change request opens its own stream; a
 * reactor does the second step when the first one was the last that this process did. Change requests begin `open`: it is
 * what lists show by default, and nothing in the request says otherwise.
 */
export const createChangeRequest =
  (deps: EditDeps): HandlersFor<typeof changeRequestOperations>['createChangeRequest'] =>
  async (context, { params, body = {} }) => {
    const { spaceId } = params;
    const { space } = await deps.access.space(context, spaceId, 'edit');
    const { baseUrl } = context;
    // Before anything is opened: what the template lacks is the caller's mistake.
    const pages = body.template && changesOfTemplate(body.template, { baseUrl, spaceId }, 'body.template');
    const metadata = commandMetadata(context, space.organizationId);
    const changeRequestId = context.ids.id();
    const [createdBy, createdAt] = [context.principal.id, context.now.toISOString()];
    const { state } = await deps.spaceRepository.handle(
      spaceId,
      {
        type: 'NumberChangeRequest',
        data: { changeRequestId, subject: body.subject ?? '', status: 'open', createdBy, createdAt },
      },
      metadata,
    );
    const numbered = state.status === 'none' ? undefined : state.changeRequests.get(changeRequestId);
    if (state.status === 'none' || numbered === undefined) throw notFound('space');
    const { organizationId } = state;
    const { number, subject, initialStatus: status, revisionInitial } = numbered;
    const data = { spaceId, organizationId, changeRequestId, number, subject, status, revisionInitial };
    const opened = await deps.repository.handle(
      changeRequestId,
      {
        type: 'OpenChangeRequest',
        data: { ...data, createdBy: numbered.createdBy, createdAt: numbered.createdAt },
      },
      metadata,
      { likelyNew: true },
    );
    // Opened by a reactor of another process, which may not have shown it to readers yet.
    if (opened.events.length === 0) await deps.repair(changeRequestId);
    await deps.counts.changed(spaceId);
    const location = changeRequestLocation(baseUrl, spaceId, changeRequestId);
    if (pages !== undefined) {
      const request = { params: { spaceId, changeRequestId }, query: { compat: true }, body: { changes: [...pages] } };
      await updateChangeRequestContent(deps)(context, request);
      const { found } = await locate(deps, context, request.params, 'edit');
      const filled = { document: found.document, streamRevision: found.revision };
      return { status: 201, ...answerChangeRequest(baseUrl, filled, state.head ?? revisionInitial, 0), location };
    }
    const at = await changeRequestAfter(deps.changeRequests, undefined, opened, changeRequestId);
    return { status: 201, ...answerChangeRequest(baseUrl, at, state.head ?? revisionInitial, 0), location };
  };
