import type { changeRequestOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, invalid, notFound } from '@bindery/service-kit';
import { answerChangeRequest, changeRequestAfter } from '../answer.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import { changeRequestLocation } from '../present.ts';

/**
 * POST /spaces/{spaceId}/change-requests. The space gives the number, then the change request opens its own stream; a
 * reactor does the second step when the first one was the last that this process did. Change requests begin `open`: it is
 * what lists show by default, and nothing in the request says otherwise.
 */
export const createChangeRequest =
  (deps: ChangeRequestRouteDeps): HandlersFor<typeof changeRequestOperations>['createChangeRequest'] =>
  async (context, { params, body = {} }) => {
    const { spaceId } = params;
    const { space } = await deps.access.space(context, spaceId, 'edit');
    if (body.template !== undefined)
      throw invalid('template.unknown', `body.template.id: there is no template ${JSON.stringify(body.template.id)}`);
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
    await deps.counts.changed(spaceId);
    const at = await changeRequestAfter(deps.changeRequests, undefined, opened, changeRequestId);
    return {
      status: 201,
      ...answerChangeRequest(context.baseUrl, at, state.head ?? revisionInitial, 0),
      location: changeRequestLocation(context.baseUrl, spaceId, changeRequestId),
    };
  };
