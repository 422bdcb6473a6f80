import type { LiveCollection } from '@bindery/event-sourcing';
import type { Query, Where } from '@bindery/read-store';
import type { Membership, Principal } from '@bindery/service-kit';
import { type MemberDocument, memberCollection, memberId } from './read-model.ts';

export type LiveMembers = () => ReturnType<typeof openMembers>;

export const openMembers = (live: LiveCollection) => live<MemberDocument>(memberCollection);

const most = 1000;

/** All members that fit, in pages underneath. */
export const allMembers = async (members: LiveMembers, where: Where): Promise<readonly MemberDocument[]> => {
  const found: MemberDocument[] = [];
  for (let after: Query['after']; ; ) {
    const rows = await members().query({ where, limit: most, ...(after === undefined ? {} : { after }) });
    for (const { document } of rows) found.push(document);
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) return found;
    after = [last.id];
  }
};

/** The memberships of a user by organization, as its principal carries them. */
export const membershipsOf = async (
  members: LiveMembers,
  userId: string,
): Promise<Readonly<Record<string, Membership>>> =>
  Object.fromEntries(
    (await allMembers(members, { userId })).map(({ organizationId, role }) => [organizationId, { role, teams: [] }]),
  );

/** Whether a user belongs to an organization of the caller. */
export const sharesOrganization = async (
  members: LiveMembers,
  principal: Principal,
  userId: string,
): Promise<boolean> => {
  const ids = Object.keys(principal.organizations).map((organizationId) => memberId(organizationId, userId));
  for (let start = 0; start < ids.length; start += most)
    if ((await members().getMany(ids.slice(start, start + most))).size > 0) return true;
  return false;
};

/** Calls something for every member of an organization, a page at a time. */
export const forEveryMember = async (
  members: LiveMembers,
  organizationId: string,
  call: (userId: string) => Promise<void>,
): Promise<void> => {
  for (let after: Query['after']; ; ) {
    const query = { where: { organizationId }, limit: most, ...(after === undefined ? {} : { after }) };
    const rows = await members().query(query);
    await Promise.all(rows.map(({ document }) => call(document.userId)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < most) return;
    after = [last.id];
  }
};

/** Members of an organization by user id; who is not one is absent. */
export const membersByUser = async (
  members: LiveMembers,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, MemberDocument>> => {
  const found = new Map<string, MemberDocument>();
  for (let start = 0; start < userIds.length; start += most) {
    const ids = userIds.slice(start, start + most).map((userId) => memberId(organizationId, userId));
    for (const { document } of (await members().getMany(ids)).values()) found.set(document.userId, document);
  }
  return found;
};
