import { type AggregateDefinition, assertNever } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { TeamEvent, TeamMemberData, TeamRole } from './events.ts';
import { everybodyIn, evolve, initialState, roleInTeam, type TeamState, teamAggregateName } from './state.ts';

interface OfTeam {
  readonly organizationId: string;
  readonly teamId: string;
  readonly at: string;
}

/** Changes of the members of a team. Who is added and removed at once is removed. */
export interface MemberChanges {
  /** Without a role: a member when new, as before otherwise. */
  readonly add: readonly { readonly userId: string; readonly role?: TeamRole }[];
  readonly remove: readonly string[];
}

/** Commands on one team. */
export type TeamCommand =
  | {
      readonly type: 'CreateTeam';
      readonly data: OfTeam & {
        readonly title: string;
        readonly createdBy: string;
        /** User ids, each once. */
        readonly members: readonly string[];
      };
    }
  | { readonly type: 'RenameTeam'; readonly data: OfTeam & { readonly title: string } }
  | { readonly type: 'ChangeTeamMembers'; readonly data: OfTeam & MemberChanges }
  | { readonly type: 'DeleteTeam'; readonly data: OfTeam };

export const decide = (command: TeamCommand, state: TeamState): readonly TeamEvent[] => {
  const { organizationId, teamId, at } = command.data;
  const team = { organizationId, teamId };
  if (command.type === 'CreateTeam') {
    // A repeated request: the id was made for it.
    if (state.status === 'active' && state.organizationId === organizationId) return [];
    if (state.status !== 'none') throw conflict('team.exists', 'A team with this id exists.');
    const { title, createdBy, members } = command.data;
    const added = members.map((userId) => ({ userId, role: 'member' }) as const);
    return [
      { type: 'TeamCreated', data: { ...team, title, createdBy, createdAt: at } },
      ...(added.length > 0
        ? [{ type: 'TeamMembersAdded', data: { ...team, members: added, addedAt: at } } as const]
        : []),
    ];
  }
  if (state.status !== 'active' || state.organizationId !== organizationId) throw notFound('team');
  switch (command.type) {
    case 'RenameTeam': {
      const { title } = command.data;
      return title === state.title ? [] : [{ type: 'TeamRenamed', data: { ...team, title, renamedAt: at } }];
    }
    case 'ChangeTeamMembers':
      return changeMembers(command.data, state);
    case 'DeleteTeam': {
      const userIds = everybodyIn(state.roster);
      return [
        ...(userIds.length > 0
          ? [{ type: 'TeamMembersRemoved', data: { ...team, userIds, removedAt: at } } as const]
          : []),
        { type: 'TeamDeleted', data: { ...team, deletedAt: at } },
      ];
    }
    default:
      return assertNever(command);
  }
};

const changeMembers = (
  { organizationId, teamId, at, add, remove }: OfTeam & MemberChanges,
  { roster }: Extract<TeamState, { status: 'active' }>,
): readonly TeamEvent[] => {
  const team = { organizationId, teamId };
  const leaving = new Set(remove);
  const wanted = new Map<string, TeamRole | undefined>();
  for (const { userId, role } of add) if (!leaving.has(userId)) wanted.set(userId, role ?? wanted.get(userId));
  const added: TeamMemberData[] = [];
  const roles: TeamMemberData[] = [];
  for (const [userId, role] of wanted) {
    const present = roleInTeam(roster, userId);
    if (present === undefined) added.push({ userId, role: role ?? 'member' });
    else if (role !== undefined && role !== present) roles.push({ userId, role });
  }
  const removed = [...leaving].filter((userId) => roleInTeam(roster, userId) !== undefined);
  const events: TeamEvent[] = [];
  if (added.length > 0) events.push({ type: 'TeamMembersAdded', data: { ...team, members: added, addedAt: at } });
  if (roles.length > 0)
    events.push({ type: 'TeamMemberRolesChanged', data: { ...team, members: roles, changedAt: at } });
  if (removed.length > 0)
    events.push({ type: 'TeamMembersRemoved', data: { ...team, userIds: removed, removedAt: at } });
  return events;
};

/** A team: one stream each, so that teams change without waiting for one another. */
export const teamAggregate: AggregateDefinition<TeamState, TeamCommand, TeamEvent> = {
  name: teamAggregateName,
  decider: { initialState, decide, evolve },
};
