import { type AuditEntry, type AuditQuery, listContentAuditActions, listContentAuditEntries } from '@bindery/contracts';
import type { OperationContext, OperationHandler, ServiceClient } from '@bindery/service-kit';

/** The audit of all services: each has the entries that come from its own log. */
export interface AuditSources {
  /** Newest first, over all services; equal times by id. */
  entries(context: OperationContext, query: AuditQuery): Promise<readonly AuditEntry[]>;
  actions(context: OperationContext): Promise<readonly { readonly id: string; readonly label: string }[]>;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const newestFirst = (a: AuditEntry, b: AuditEntry): number => compare(b.time, a.time) || compare(b.id, a.id);

/**
 * Merges the pages of the services. Each gives as many as are asked for at most, so the first of all are among them.
 * @param own entries of this service
 * @param services operations of the others
 */
export const createAuditSources = (deps: {
  readonly own: OperationHandler<typeof listContentAuditEntries>;
  readonly ownActions: readonly { readonly id: string; readonly label: string }[];
  readonly services: ServiceClient;
}): AuditSources => {
  const { own, ownActions, services } = deps;
  return {
    async entries(context, query) {
      const request = { params: {}, query: {}, body: query };
      const answers = await Promise.all([
        own(context, request),
        services.call(listContentAuditEntries, context, request),
      ]);
      return answers
        .flatMap(({ body }) => body.entries)
        .sort(newestFirst)
        .slice(0, query.limit);
    },
    async actions(context) {
      const { body } = await services.call(listContentAuditActions, context, { params: {}, query: {}, body: {} });
      return [...ownActions, ...body.actions].sort((a, b) => compare(a.id, b.id));
    },
  };
};
