import type { AuditEntry, auditOperations } from '@bindery/contracts';
import {
  type CursorCodec,
  forbidden,
  type HandlersFor,
  listIdentity,
  membershipIn,
  notFound,
  type OperationContext,
  type Principal,
} from '@bindery/service-kit';
import { organizationPermissions } from '../organizations/index.ts';
import type { AuditExports } from './export.ts';
import { type AuditFilters, queryOf } from './filters.ts';
import { eventId, type PresentDeps, presentDetails, presentEntries } from './present.ts';
import type { AuditSources } from './sources.ts';

export interface AuditRouteDeps extends PresentDeps {
  readonly sources: AuditSources;
  readonly cursors: CursorCodec;
  readonly exports: AuditExports;
}

/** 404 for strangers, 403 for members who do not administer the organization. @throws Problem */
const requireAdmin = (principal: Principal, organizationId: string): void => {
  const membership = membershipIn(principal, organizationId);
  if (membership === undefined) throw notFound('organization');
  if (!organizationPermissions(membership).admin)
    throw forbidden('audit.administrators_only', 'Only administrators of the organization may read its audit events.');
};

const pageOf = async (
  deps: AuditRouteDeps,
  context: OperationContext,
  list: string,
  query: AuditFilters & { readonly page?: string; readonly limit?: number },
  organizationId: string | undefined,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly next?: { page: string } }> => {
  const { limit = 20, page } = query;
  const [time, id] = page === undefined ? [] : deps.cursors.decode(list, page);
  const found = await deps.sources.entries(context, {
    ...queryOf(query),
    ...(organizationId === undefined ? {} : { organizationId }),
    ...(page === undefined ? {} : { after: { time: String(time), id: String(id) } }),
    limit: limit + 1,
  });
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  if (found.length <= limit || last === undefined) return { entries };
  return { entries, next: { page: deps.cursors.encode(list, [last.time, last.id]) } };
};

/** The operations of the audit, but for the one of the administration. */
export const createAuditHandlers = (
  deps: AuditRouteDeps,
): HandlersFor<Omit<typeof auditOperations, 'listInstanceAuditEvents'>> => ({
  async listOrganizationAuditEvents(context, { params: { organizationId }, query }) {
    requireAdmin(context.principal, organizationId);
    const list = listIdentity('listOrganizationAuditEvents', { organizationId, ...query });
    const { entries, next } = await pageOf(deps, context, list, query, organizationId);
    return {
      status: 200,
      body: { items: await presentEntries(deps, entries, context.baseUrl), ...(next && { next }) },
    };
  },
  async getOrganizationAuditEvent(context, { params: { organizationId, auditEventId } }) {
    requireAdmin(context.principal, organizationId);
    const found = eventId.test(auditEventId) ? await deps.sources.entries(context, { id: auditEventId, limit: 1 }) : [];
    const [details] = await presentDetails(
      deps,
      found.filter((entry) => entry.organizationId === organizationId),
      context.baseUrl,
    );
    if (details === undefined) throw notFound('audit event');
    return { status: 200, body: details };
  },
  async listOrganizationAuditEventActions(context, { params: { organizationId } }) {
    requireAdmin(context.principal, organizationId);
    const actions = await deps.sources.actions(context);
    return { status: 200, body: { items: actions.map((action) => ({ object: 'audit-event-action', ...action })) } };
  },
  async createOrganizationAuditExport(context, { params: { organizationId }, body = {} }) {
    requireAdmin(context.principal, organizationId);
    queryOf(body);
    return { status: 201, body: deps.exports.create(context, organizationId, body) };
  },
});

/** GET /audit-events of the administration */
export const createInstanceAuditHandlers = (
  deps: AuditRouteDeps,
): HandlersFor<Pick<typeof auditOperations, 'listInstanceAuditEvents'>> => ({
  async listInstanceAuditEvents(context, { query }) {
    const list = listIdentity('listInstanceAuditEvents', query);
    const { entries, next } = await pageOf(deps, context, list, query, query.organization);
    const items = await presentDetails(deps, entries, context.baseUrl);
    return { status: 200, body: { items: [...items], ...(next && { next }) } };
  },
});
