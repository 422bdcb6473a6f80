import { ignoreUnknown } from '@bindery/event-sourcing';
import type { MemberRole } from '@bindery/service-kit';
import type { OrganizationEvent } from './events.ts';

/** A membership as decisions see it. */
export interface Membership {
  readonly role: MemberRole | null;
  readonly version: number;
}

/**
 * The members by user id, in buckets by the last character of the id: states are immutable, and copying one bucket per
 * change keeps folding 10,000 members at some milliseconds where copying one map would take seconds.
 */
export type Roster = ReadonlyMap<string, ReadonlyMap<string, Membership>>;

/** What decisions about an organization need. */
export type OrganizationState =
  | { readonly status: 'none' }
  | { readonly status: 'active'; readonly roster: Roster; readonly members: number };

/** Prefix of the streams of organizations. */
export const organizationAggregateName = 'identity.organization';

export const initialState = (): OrganizationState => ({ status: 'none' });

const bucketOf = (userId: string): string => userId.slice(-1);

/** The membership of a user, if it has one. */
export const memberIn = (roster: Roster, userId: string): Membership | undefined =>
  roster.get(bucketOf(userId))?.get(userId);

export const evolve = (state: OrganizationState, event: OrganizationEvent): OrganizationState => {
  switch (event.type) {
    case 'OrganizationCreated':
      return { status: 'active', roster: new Map(), members: 0 };
    case 'MemberJoined':
    case 'MemberRoleChanged': {
      if (state.status === 'none') return state;
      const { userId, role, version } = event.data;
      const known = memberIn(state.roster, userId) !== undefined;
      const bucket = new Map(state.roster.get(bucketOf(userId))).set(userId, { role, version });
      const roster = new Map(state.roster).set(bucketOf(userId), bucket);
      return { status: 'active', roster, members: state.members + (known ? 0 : 1) };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
