/** What somebody is in a team: owners manage it. */
export type TeamRole = 'owner' | 'member';

/** A member of a team in an event. */
export interface TeamMemberData {
  readonly userId: string;
  readonly role: TeamRole;
}

interface OfTeam {
  readonly organizationId: string;
  readonly teamId: string;
}

/** What happened to a team. Members come and go in lists, since one request changes many. */
export type TeamEvent =
  | {
      readonly type: 'TeamCreated';
      readonly data: OfTeam & { readonly title: string; readonly createdBy: string; readonly createdAt: string };
    }
  | { readonly type: 'TeamRenamed'; readonly data: OfTeam & { readonly title: string; readonly renamedAt: string } }
  | {
      readonly type: 'TeamMembersAdded';
      readonly data: OfTeam & { readonly members: readonly TeamMemberData[]; readonly addedAt: string };
    }
  | {
      readonly type: 'TeamMemberRolesChanged';
      readonly data: OfTeam & { readonly members: readonly TeamMemberData[]; readonly changedAt: string };
    }
  | {
      readonly type: 'TeamMembersRemoved';
      readonly data: OfTeam & { readonly userIds: readonly string[]; readonly removedAt: string };
    }
  | { readonly type: 'TeamDeleted'; readonly data: OfTeam & { readonly deletedAt: string } };
