import type { listContentAuditEntries } from '@bindery/contracts';
import type { ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { Condition, Query } from '@bindery/read-store';
import type { OperationHandler } from '@bindery/service-kit';
import { type AuditEntryDocument, auditCollection } from './entry.ts';
import { auditProjectionName } from './projection.ts';

/** How long a reader waits for what was just written to be in, in ms; after that it reads what there is. */
const freshWithinMs = 1000;

const timesOf = ({ from, to }: { readonly from?: string; readonly to?: string }): Condition | undefined =>
  from === undefined && to === undefined
    ? undefined
    : { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lte: to }) };

/**
 * Handler of a service's internal operation `list<Service>AuditEntries`: its entries, newest first, filtered by the store.
 * @param runtime asked at every request
 */
export const createAuditReader = (
  service: string,
  runtime: Pick<ServiceRuntime, 'live' | 'waitFor'>,
  { eventStore }: Pick<ServicePorts, 'eventStore'>,
): OperationHandler<typeof listContentAuditEntries> => {
  const spec = auditCollection(service);
  return async (_context, { body }) => {
    await runtime.waitFor(auditProjectionName, await eventStore.head([`${service}.`]), freshWithinMs);
    const entries = runtime.live<AuditEntryDocument>(spec);
    const { organizationId, action, actorId, targetId, after, limit } = body;
    if (body.id !== undefined) {
      const found = await entries.get(body.id);
      return { status: 200, body: { entries: found ? [found.document] : [] } };
    }
    const filters = { organizationId, action, actorId, targetId, time: timesOf(body) };
    const where = Object.fromEntries(
      Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const query: Query = {
      where,
      orderBy: [{ field: 'time', direction: 'desc' }],
      limit,
      ...(after === undefined ? {} : { after: [after.time, after.id] }),
    };
    const found = await entries.query(query);
    return { status: 200, body: { entries: found.map(({ document }) => document) } };
  };
};
