import type { changeRequestOperations } from '@bindery/contracts';
import { findUnsafeAddress } from '@bindery/documents';
import { commandMetadata } from '@bindery/event-sourcing';
import { forbidden, type HandlersFor, invalid } from '@bindery/service-kit';
import { answerChangeRequest, changeRequestAfter, expectedRevision } from '../answer.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import type { ChangeRequestLink } from '../events.ts';
import type { Merging } from '../merging.ts';
import { type LocateDeps, locate } from './located.ts';

/** @throws Problem invalid for what leads to an address that would run something */
const refuseUnsafe = (value: unknown, field: string): void => {
  const found = findUnsafeAddress(value);
  if (found === undefined) return;
  throw invalid('change_request.unsafe_address', `body.${field}: cannot lead to ${JSON.stringify(found.slice(0, 40))}`);
};

/**
 * PATCH /spaces/{spaceId}/change-requests/{changeRequestId}: by whoever may edit, and by its author. The statuses that it
 * may go to are a table in the decider.
 */
export const updateChangeRequestById =
  (
    deps: ChangeRequestRouteDeps & LocateDeps & { readonly merging: Merging },
  ): HandlersFor<typeof changeRequestOperations>['updateChangeRequestById'] =>
  async (context, { params, body, ifMatch }) => {
    const { found, space, permissions } = await locate(deps, context, params, 'view');
    if (!permissions.edit && found.document.createdBy !== context.principal.id)
      throw forbidden('change_request.edit_needed', 'Only its author and editors of the space may change it.');
    const metadata = commandMetadata(context, space.organizationId);
    const expected = expectedRevision(ifMatch);
    const { id } = found;
    for (const [index, { ref }] of (body.links ?? []).entries()) refuseUnsafe(ref, `links[${index}].ref`);
    refuseUnsafe(body.description, 'description');
    const links = body.links?.map(
      ({ id: linkId, ref, title }): ChangeRequestLink => ({
        id: linkId ?? context.ids.id(),
        ref,
        ...(title === undefined ? {} : { title }),
      }),
    );
    if (body.status !== undefined && found.document.mergingSince !== undefined)
      await deps.merging.settled(id, metadata);
    const handled = await deps.repository.handle(
      id,
      {
        type: 'DescribeChangeRequest',
        data: {
          ...(body.subject === undefined ? {} : { subject: body.subject }),
          ...(body.description === undefined ? {} : { description: body.description }),
          ...(links === undefined ? {} : { links }),
          ...(body.status === undefined ? {} : { status: body.status }),
          changedBy: context.principal.id,
          changedAt: context.now.toISOString(),
        },
      },
      metadata,
      expected === undefined ? {} : { expectedRevision: expected },
    );
    if (handled.events.some((event) => event.type === 'ChangeRequestStatusChanged'))
      await deps.counts.changed(params.spaceId);
    const at = await changeRequestAfter(deps.changeRequests, found, handled, id);
    const comments = await deps.openComments.of(id);
    return { status: 200, ...answerChangeRequest(context.baseUrl, at, space.revision, comments) };
  };
