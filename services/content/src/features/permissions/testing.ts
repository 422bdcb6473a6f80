import type { OperationDefinition } from '@bindery/contracts';
import type { MemberRole, Principal, ServiceClient } from '@bindery/service-kit';

/** A member of an organization as the identity service knows it. */
export interface TestMember {
  readonly role: MemberRole | null;
  readonly teams: readonly string[];
}

/** Members by organization and user; tests change them as they go. */
export type Directory = Record<string, Record<string, TestMember>>;

/** Answers what the content service asks the identity service. */
export const identityOf = (directory: Directory, teams: readonly string[]): ServiceClient => {
  const answers: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
    resolveSubjects: ({ organizationId, users = [], teams: asked = [] }) => ({
      users: [users].flat().filter((id) => Object.hasOwn(directory[String(organizationId)] ?? {}, String(id))),
      teams: [asked].flat().filter((id) => teams.includes(String(id))),
    }),
    listAccessSubjects: ({ organizationId, page, limit, users }) => {
      const named = users === undefined ? undefined : new Set([users].flat());
      const all = Object.entries(directory[String(organizationId)] ?? {})
        .filter(([userId]) => named?.has(userId) ?? true)
        .map(([userId, it]) => ({ userId, ...it }));
      const from = Number(page ?? 0);
      const to = from + Number(limit);
      const next = to < all.length ? { next: { page: String(to) } } : {};
      return { ...next, items: all.slice(from, to) };
    },
  };
  const call = async (operation: OperationDefinition, _context: unknown, request: { readonly body: unknown }) => {
    const answer = answers[operation.id];
    if (answer === undefined) throw new Error(`nobody answers ${operation.id}`);
    return { status: 200, body: answer(Object(request.body)) };
  };
  return { call } as unknown as ServiceClient;
};

/** The principal of a user as the directory has it now: roles and teams count from the next request. */
export const principalOf = (directory: Directory, id: string): Principal => ({
  kind: 'user',
  id,
  tokenId: `token-${id}`,
  instanceAdmin: false,
  organizations: Object.fromEntries(
    Object.entries(directory).flatMap(([organizationId, members]) => {
      const member = members[id];
      return member === undefined ? [] : [[organizationId, member] as const];
    }),
  ),
});
