import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BodyOf, operations } from '@bindery/contracts';
import { createInProcessClient, type HandlerMap, type MemberRole, type Principal } from '@bindery/service-kit';
import { startIdentity } from '../../api/testing.ts';

type Options = Parameters<typeof startIdentity>[0] & object;

/** What stands in for the content service. */
export type InternalHandlers = HandlerMap;

/** An instance with an organization that has invite links, and people by their names: Ada administers it. */
export const startInvites = async (options: Options['options'] = {}, content: InternalHandlers = {}) => {
  const identity = await startIdentity({
    options: { publicUrl: () => 'https://docs.example.org', ...options },
    services: createInProcessClient({
      countSpacesOfMembers: async (_context, { body }) => ({
        status: 200,
        body: { counts: Object(body).members.map(() => 0) },
      }),
      ...content,
    }),
  });
  const people = new Map<string, { id: string; token: string }>();
  const as = async (name: string): Promise<Principal> => {
    const known = people.get(name) ?? (await identity.newUser(name));
    people.set(name, known);
    return identity.principalOf(known.token);
  };
  const created = await identity.call(operations.createOrganization, await as('Ada'), { body: { title: 'Inviters' } });
  const organizationId = created.body.id;
  const setLinks = async (inviteLinks: boolean) =>
    identity.call(operations.updateOrganizationById, await as('Ada'), {
      params: { organizationId },
      body: { inviteLinks },
    });
  await setLinks(true);
  return {
    ...{ identity, organizationId, as, setLinks },
    roleOf: async (name: string): Promise<MemberRole | null | undefined> =>
      (await as(name)).organizations[organizationId]?.role,
    inviteBy: async (name: string, body: BodyOf<typeof operations.inviteUsersToOrganization>) =>
      (await identity.call(operations.inviteUsersToOrganization, await as(name), { params: { organizationId }, body }))
        .body,
    /** What the files hold whose names begin so. */
    async bytesOf(...files: readonly string[]): Promise<string> {
      const names = (await readdir(identity.folder)).filter((name) =>
        files.some((file) => name.startsWith(`${file}.db`)),
      );
      return (await Promise.all(names.map((name) => readFile(join(identity.folder, name), 'latin1')))).join('\n');
    },
  };
};

export type TestInvites = Awaited<ReturnType<typeof startInvites>>;
