import type { MemberRole } from '@bindery/service-kit';

/** A membership as decisions see it. */
export interface Membership {
  readonly role: MemberRole | null;
  readonly version: number;
  readonly sso: boolean;
}

type Leaf = ReadonlyMap<string, Membership>;

/**
 * The members by user id, in buckets by the last two characters of the id: states are immutable, and copying one path of
 * buckets per change keeps folding 50,000 members at some tens of milliseconds where copying one map would take minutes.
 */
export type Roster = ReadonlyMap<string, ReadonlyMap<string, Leaf>>;

const outerOf = (userId: string): string => userId.slice(-1);
const innerOf = (userId: string): string => userId.slice(-2, -1);

/** The membership of a user, if it has one. */
export const memberIn = (roster: Roster, userId: string): Membership | undefined =>
  roster.get(outerOf(userId))?.get(innerOf(userId))?.get(userId);

/** The roster with one membership put in, or with `undefined` taken out. */
export const withMember = (roster: Roster, userId: string, membership: Membership | undefined): Roster => {
  const [outer, inner] = [outerOf(userId), innerOf(userId)];
  const bucket = roster.get(outer);
  const leaf = new Map(bucket?.get(inner));
  if (membership === undefined) leaf.delete(userId);
  else leaf.set(userId, membership);
  return new Map(roster).set(outer, new Map(bucket).set(inner, leaf));
};
