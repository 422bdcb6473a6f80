import { limits, type spaceOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, isProblem } from '@bindery/service-kit';
import type { SpaceAccess } from '../../access/index.ts';
import { answerSpace, expectedRevision, spaceAfter } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';

type Handlers = HandlersFor<typeof spaceOperations>;
const retentionMs = limits.space.retentionDays * 24 * 60 * 60 * 1000;

/**
 * DELETE /spaces/{spaceId}. 204 for what does not exist, is deleted already, or may not be seen: the three look alike
 * (gaps-filled section 2).
 */
export const deleteSpace =
  (deps: SpaceRouteDeps): Handlers['deleteSpaceById'] =>
  async (context, { params, ifMatch }) => {
    const { spaceId } = params;
    const expected = expectedRevision(ifMatch);
    let before: SpaceAccess;
    try {
      before = await deps.access.space(context, spaceId, 'admin');
    } catch (error) {
      if (isProblem(error) && error.kind === 'not-found') return { status: 204 };
      throw error;
    }
    const handled = await deps.repository.handle(
      spaceId,
      {
        type: 'DeleteSpace',
        data: {
          deletedBy: context.principal.id,
          deletedAt: context.now.toISOString(),
          purgeAfter: new Date(context.now.getTime() + retentionMs).toISOString(),
        },
      },
      commandMetadata(context, before.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    return { status: handled.events.length > 0 ? 205 : 204 };
  };

/** POST /spaces/{spaceId}/restore */
export const restoreSpace =
  (deps: SpaceRouteDeps): Handlers['restoreSpace'] =>
  async (context, { params, ifMatch }) => {
    const { spaceId } = params;
    const expected = expectedRevision(ifMatch);
    const before = await deps.access.space(context, spaceId, 'admin', { deleted: 'shown' });
    const instead = await deps.placement.instead(before.space, context.now);
    const handled = await deps.repository.handle(
      spaceId,
      {
        type: 'RestoreSpace',
        data: { restoredBy: context.principal.id, restoredAt: context.now.toISOString() },
        ...(instead === undefined ? {} : { instead }),
      },
      commandMetadata(context, before.space.organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const after = await spaceAfter(deps, before, handled, spaceId);
    return { status: 200, ...(await answerSpace(deps, context, after)) };
  };
