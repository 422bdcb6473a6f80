import { ignoreUnknown } from '@bindery/event-sourcing';
import type { TeamEvent, TeamRole } from './events.ts';

/**
 * Roles by user id, in buckets by the last character of the id: states are immutable, and copying one bucket per change
 * keeps folding a large team linear (as the roster of an organization does).
 */
export type TeamRoster = ReadonlyMap<string, ReadonlyMap<string, TeamRole>>;

/** What decisions about a team need. */
export type TeamState =
  | { readonly status: 'none' }
  | {
      readonly status: 'active';
      readonly organizationId: string;
      readonly title: string;
      readonly roster: TeamRoster;
    }
  | { readonly status: 'deleted'; readonly organizationId: string };

/** Prefix of the streams of teams, one each. */
export const teamAggregateName = 'identity.team';

export const initialState = (): TeamState => ({ status: 'none' });

const bucketOf = (userId: string): string => userId.slice(-1);

/** What a user is in a team, if it is in it. */
export const roleInTeam = (roster: TeamRoster, userId: string): TeamRole | undefined =>
  roster.get(bucketOf(userId))?.get(userId);

/** Everybody in the team, in no particular order. */
export const everybodyIn = (roster: TeamRoster): readonly string[] =>
  [...roster.values()].flatMap((bucket) => [...bucket.keys()]);

/** Every bucket is copied once, however many members change. */
const changed = (roster: TeamRoster, changes: readonly (readonly [string, TeamRole | undefined])[]): TeamRoster => {
  const next = new Map<string, ReadonlyMap<string, TeamRole>>(roster);
  const copied = new Map<string, Map<string, TeamRole>>();
  for (const [userId, role] of changes) {
    const key = bucketOf(userId);
    const bucket = copied.get(key) ?? new Map(roster.get(key));
    copied.set(key, bucket);
    next.set(key, bucket);
    if (role === undefined) bucket.delete(userId);
    else bucket.set(userId, role);
  }
  return next;
};

export const evolve = (state: TeamState, event: TeamEvent): TeamState => {
  if (event.type === 'TeamCreated') {
    const { organizationId, title } = event.data;
    return { status: 'active', organizationId, title, roster: new Map() };
  }
  if (state.status !== 'active') return state;
  switch (event.type) {
    case 'TeamRenamed':
      return { ...state, title: event.data.title };
    case 'TeamMembersAdded':
    case 'TeamMemberRolesChanged': {
      const changes = event.data.members.map(({ userId, role }) => [userId, role] as const);
      return { ...state, roster: changed(state.roster, changes) };
    }
    case 'TeamMembersRemoved': {
      const changes = event.data.userIds.map((userId) => [userId, undefined] as const);
      return { ...state, roster: changed(state.roster, changes) };
    }
    case 'TeamDeleted':
      return { status: 'deleted', organizationId: state.organizationId };
    default:
      return ignoreUnknown(state, event);
  }
};
