import { listAccessSubjects, resolveSubjects } from '@bindery/contracts';
import { invalid, listIdentity, type MemberRole, type OperationContext, paginate } from '@bindery/service-kit';
import type { PermissionRouteDeps } from '../deps.ts';
import { levelOf } from '../member-level.ts';
import { loadResource, type ResourceName } from '../resource.ts';

interface Paging {
  readonly page?: string;
  readonly limit?: number;
}

const defaultLimit = 50;
/** Pages of members that one request looks through. */
const maxPages = 20;

/** What was given on the resource itself, to members or to teams; those who are not there any more are left out. */
export const listDirect = async (
  deps: PermissionRouteDeps,
  context: OperationContext,
  operationId: string,
  name: ResourceName,
  kind: 'user' | 'team',
  paging: Paging,
) => {
  const { id: resourceId, organizationId } = await loadResource(deps, context, name);
  const { items, count, next } = await paginate(
    deps.grants.documents,
    listIdentity(operationId, { ...name }),
    { where: { resourceId, kind }, orderBy: [{ field: 'subjectId', direction: 'asc' }] },
    paging,
    deps.cursors,
  );
  const ids = items.map(({ document }) => document.subjectId);
  const asked = kind === 'user' ? { users: ids } : { teams: ids };
  const request = { params: {}, query: {}, body: { organizationId, ...asked } };
  const known =
    ids.length === 0 ? { users: [], teams: [] } : (await deps.services.call(resolveSubjects, context, request)).body;
  const there = new Set(kind === 'user' ? known.users : known.teams);
  const shown = items
    .map(({ document }) => document)
    .filter((grant) => grant.organizationId === organizationId && there.has(grant.subjectId))
    .map(({ level, subjectId }) => ({ permission: level, subjectId }));
  return { ...(next ? { next } : {}), count, items: shown };
};

/**
 * Everyone who may view the resource, with the level that it has in the end. Members are looked through page by page: each
 * page asked for is as long as what is still missing, so that none is looked at twice and none left out.
 */
export const listAggregate = async (
  deps: PermissionRouteDeps,
  context: OperationContext,
  operationId: string,
  name: ResourceName,
  { page, limit = defaultLimit, role }: Paging & { readonly role?: MemberRole },
) => {
  const resource = await loadResource(deps, context, name);
  const { organizationId } = resource;
  const list = listIdentity(operationId, { ...name, role });
  if (limit === 0) return { items: [] };
  const levels = await deps.grants.on(organizationId, resource.around);
  const items: { permission: MemberRole; user: string }[] = [];
  let cursor: string | undefined;
  if (page !== undefined) {
    const [inner] = deps.cursors.decode(list, page);
    if (typeof inner !== 'string') throw invalid('cursor.invalid', 'query.page: is not a cursor of this list');
    cursor = inner;
  }
  for (let looked = 0; looked < maxPages; looked += 1) {
    const request = { organizationId, limit: limit - items.length, ...(cursor === undefined ? {} : { page: cursor }) };
    const { body } = await deps.services.call(listAccessSubjects, context, { params: {}, query: {}, body: request });
    for (const member of body.items) {
      const permission = levelOf(resource, levels, member);
      if (permission !== null && (role === undefined || permission === role))
        items.push({ permission, user: member.userId });
    }
    cursor = body.next?.page;
    if (cursor === undefined) return { items };
    if (items.length >= limit) break;
  }
  return { items, next: { page: deps.cursors.encode(list, [cursor ?? null]) } };
};
