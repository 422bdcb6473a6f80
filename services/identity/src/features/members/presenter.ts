import type { memberOperations } from '@bindery/contracts';
import type { OperationAnswer, OperationContext } from '@bindery/service-kit';
import type { LastSeen } from './last-seen.ts';
import type { MemberDocument } from './read-model.ts';

type Member = Extract<OperationAnswer<typeof memberOperations.getMemberInOrganizationById>, { status: 200 }>['body'];

/** What a member has elsewhere. Sites do not exist yet. */
export interface MemberCounts {
  readonly spaces: number;
  readonly teams: number;
}

const none: MemberCounts = { spaces: 0, teams: 0 };

/** A member as the API shows it; the gateway puts the user in. */
export const presentMember = (
  { userId, role, joinedAt, sso }: Pick<MemberDocument, 'userId' | 'role' | 'joinedAt' | 'sso'>,
  lastSeenAt: string | undefined,
  { spaces, teams }: MemberCounts = none,
): Member => ({
  object: 'member',
  id: userId,
  role,
  user: userId,
  disabled: false,
  joinedAt,
  ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
  sso,
  spaces,
  teams,
  sites: 0,
});

/** Counts of members of one organization, by user id; zeros where absent. */
export type CountOfMembers = (
  context: OperationContext,
  organizationId: string,
  members: readonly Pick<MemberDocument, 'userId' | 'role'>[],
) => Promise<ReadonlyMap<string, MemberCounts>>;

/** Members of one organization as the API shows them, with what comes from elsewhere read once for all of them. */
export type PresentMembers = (
  context: OperationContext,
  organizationId: string,
  documents: readonly Pick<MemberDocument, 'userId' | 'role' | 'joinedAt' | 'sso'>[],
) => Promise<Member[]>;

export const createPresentMembers =
  (deps: { readonly lastSeen: LastSeen; readonly countOfMembers: CountOfMembers }): PresentMembers =>
  async (context, organizationId, documents) => {
    const userIds = documents.map(({ userId }) => userId);
    const [seen, counts] = await Promise.all([
      deps.lastSeen.of(organizationId, userIds),
      documents.length === 0 ? new Map() : deps.countOfMembers(context, organizationId, documents),
    ]);
    return documents.map((document) => presentMember(document, seen.get(document.userId), counts.get(document.userId)));
  };
