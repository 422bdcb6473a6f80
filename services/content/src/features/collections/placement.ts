import { deriveEventId } from '@bindery/event-sourcing';
import type { OperationContext } from '@bindery/service-kit';
import { orderKeyAt, topLevel } from '../space-model/index.ts';
import type { Placement } from '../spaces/index.ts';
import { type Cause, metadataOf, type StrayDeps, settleStray } from './stray.ts';

/** The request as the cause of commands that may be repeated. */
export const causeOf = (context: OperationContext, name: string): Cause => {
  const { kind, id } = context.principal;
  const seed = deriveEventId(context.ids.eventId(), name);
  const at = context.now.toISOString();
  return { by: id, at, metadata: metadataOf(seed, { kind, id }, context.now, context.requestId) };
};

/** See `Placement`. */
export const createPlacement = (deps: StrayDeps): Placement => ({
  settle: async (context, space) => space.place === topLevel || settleStray(deps, space, causeOf(context, 'settle')),
  async instead({ id, organizationId, place }, now) {
    if (place === topLevel) return undefined;
    if ((await deps.collections.tree(organizationId)).get(place) !== undefined) return undefined;
    const trace = await deps.collections.trace(organizationId, place);
    // Whatever the collection let in, nobody else is let in without it.
    const defaultLevel = trace?.lastDefault === undefined ? null : trace.lastDefault;
    return { from: place, order: orderKeyAt(now.toISOString(), id), defaultLevel };
  },
});
