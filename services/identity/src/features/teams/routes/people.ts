import { invalid } from '@bindery/service-kit';
import { memberId } from '../../members/index.ts';
import type { TeamRoutesDeps } from '../deps.ts';

const most = 1000;
const together = 50;

/** Which of these users are members of the organization. */
export const membersAmong = async (
  { members }: Pick<TeamRoutesDeps, 'members'>,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (let start = 0; start < userIds.length; start += most) {
    const ids = userIds.slice(start, start + most).map((userId) => memberId(organizationId, userId));
    for (const { document } of (await members().getMany(ids)).values()) found.add(document.userId);
  }
  return found;
};

/**
 * Refuses people who are not members of the organization; that they might have an account tells nobody anything.
 * @param people with the field that names each
 * @throws Problem 400 naming the first field
 */
export const requireMembers = async (
  deps: Pick<TeamRoutesDeps, 'members'>,
  organizationId: string,
  people: readonly { readonly userId: string | undefined; readonly at: string }[],
): Promise<void> => {
  const ids = people.flatMap(({ userId }) => (userId === undefined ? [] : [userId]));
  const known = await membersAmong(deps, organizationId, ids);
  const stranger = people.find(({ userId }) => userId === undefined || !known.has(userId));
  if (stranger !== undefined) throw invalid('team.not_a_member', `${stranger.at}: is not a member of the organization`);
};

/** Ends what was remembered about these users: their teams are others now. */
export const forgetAll = async (
  { forget }: Pick<TeamRoutesDeps, 'forget'>,
  userIds: readonly string[],
): Promise<void> => {
  for (let start = 0; start < userIds.length; start += together)
    await Promise.all(userIds.slice(start, start + together).map((userId) => forget(userId)));
};
