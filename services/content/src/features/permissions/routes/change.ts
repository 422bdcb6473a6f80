import { limits, resolveSubjects } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { invalid, isProblem, type MemberRole, notFound, type OperationContext } from '@bindery/service-kit';
import type { Subject } from '../decider.ts';
import type { PermissionRouteDeps } from '../deps.ts';
import { loadResource, type Resource, type ResourceName } from '../resource.ts';

const setGrants = (
  { grantsRepository }: PermissionRouteDeps,
  context: OperationContext,
  resource: Resource,
  what: {
    readonly subjects: readonly Subject[];
    readonly level: MemberRole | null;
    readonly only?: 'existing' | 'raise';
  },
) =>
  grantsRepository.handle(
    resource.id,
    {
      type: 'SetGrants',
      data: {
        resource: resource.kind,
        resourceId: resource.id,
        organizationId: resource.organizationId,
        ...what,
        by: context.principal.id,
        at: context.now.toISOString(),
      },
      most: limits.grants.perResource,
    },
    commandMetadata(context, resource.organizationId),
  );

/** POST .../permissions. All of them, or nobody. */
export const invite = async (
  deps: PermissionRouteDeps,
  context: OperationContext,
  name: ResourceName,
  body: { readonly role: MemberRole | null; readonly users?: readonly string[]; readonly teams?: readonly string[] },
): Promise<{ readonly status: 204 }> => {
  const { role, users = [], teams = [] } = body;
  const resource = await loadResource(deps, context, name);
  if (users.length + teams.length === 0) throw invalid('permissions.nobody', 'body: give users or teams.');
  const { organizationId } = resource;
  const request = { params: {}, query: {}, body: { organizationId, users: [...users], teams: [...teams] } };
  const { body: known } = await deps.services.call(resolveSubjects, context, request);
  const [members, there] = [new Set(known.users), new Set(known.teams)];
  if (!users.every((id) => members.has(id))) throw notFound('member');
  if (!teams.every((id) => there.has(id))) throw notFound('team');
  const subjects = [
    ...users.map((subjectId) => ({ kind: 'user' as const, subjectId })),
    ...teams.map((subjectId) => ({ kind: 'team' as const, subjectId })),
  ];
  await setGrants(deps, context, resource, { subjects, level: role });
  return { status: 204 };
};

/** PATCH .../permissions/users/{userId} and teams. Null takes the level, absent leaves it. */
export const update = async (
  deps: PermissionRouteDeps,
  context: OperationContext,
  name: ResourceName,
  subject: Subject,
  role: MemberRole | null | undefined,
): Promise<{ readonly status: 204 }> => {
  const resource = await loadResource(deps, context, name);
  const level = role === undefined ? await presentLevel(deps, resource, subject) : role;
  await setGrants(deps, context, resource, { subjects: [subject], level, only: 'existing' });
  return { status: 204 };
};

const presentLevel = async (
  { grants }: PermissionRouteDeps,
  { id, organizationId }: Resource,
  { kind, subjectId }: Subject,
): Promise<MemberRole> => {
  const [levels] = await grants.on(organizationId, [id]);
  const level = levels?.[`${kind}:${subjectId}`];
  if (level === undefined) throw notFound('permission');
  return level;
};

/** DELETE .../permissions/users/{userId} and teams. */
export const remove = async (
  deps: PermissionRouteDeps,
  context: OperationContext,
  name: ResourceName,
  subject: Subject,
): Promise<{ readonly status: 204 | 205 }> => {
  let resource: Resource;
  try {
    resource = await loadResource(deps, context, name);
  } catch (error) {
    if (isProblem(error) && error.kind === 'not-found') return { status: 204 };
    throw error;
  }
  const { events } = await setGrants(deps, context, resource, { subjects: [subject], level: null });
  return { status: events.some(({ type }) => type === 'AccessRevoked') ? 205 : 204 };
};
