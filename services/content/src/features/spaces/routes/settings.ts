import type { spaceOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, invalid } from '@bindery/service-kit';
import { answerSpace, expectedRevision, spaceAfter } from '../answer.ts';
import type { SpaceRouteDeps } from '../deps.ts';
import type { MergeRules, SpaceSettings } from '../events.ts';
import { requireUsableRules } from '../usable-rules.ts';

type Handler = HandlersFor<typeof spaceOperations>['updateSpaceById'];

/** A space shows an emoji or a picture: giving one takes the other away, null for both clears (gaps-filled section 5). */
const settingsFrom = (body: Parameters<Handler>[1]['body']): SpaceSettings => {
  const { emoji, icon, mergeRules, ...plain } = body;
  if (typeof emoji === 'string' && typeof icon === 'string')
    throw invalid('space.emoji_and_icon', 'body.emoji, body.icon: give one of them; the other one is cleared.');
  const picture =
    typeof emoji === 'string'
      ? { emoji: emoji === '' ? null : emoji, icon: null }
      : typeof icon === 'string'
        ? { icon, emoji: null }
        : { ...(emoji === null ? { emoji } : {}), ...(icon === null ? { icon } : {}) };
  return { ...plain, ...picture, ...(mergeRules ? { mergeRules: mergeRules as MergeRules } : {}) };
};

/** PATCH /spaces/{spaceId} */
export const updateSpace =
  (deps: SpaceRouteDeps): Handler =>
  async (context, { params, body, ifMatch }) => {
    const { spaceId } = params;
    const before = await deps.access.space(context, spaceId, 'admin');
    const settings = settingsFrom(body);
    const expected = expectedRevision(ifMatch);
    const { organizationId } = before.space;
    await requireUsableRules(deps.services, context, organizationId, body.mergeRules);
    const handled = await deps.repository.handle(
      spaceId,
      {
        type: 'ChangeSpaceSettings',
        data: { settings, changedBy: context.principal.id, changedAt: context.now.toISOString() },
      },
      commandMetadata(context, organizationId),
      expected === undefined ? {} : { expectedRevision: expected },
    );
    const after = await spaceAfter(deps, before, handled, spaceId);
    return { status: 200, ...(await answerSpace(deps, context, after)) };
  };
