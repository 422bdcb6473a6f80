import type { memberOperations } from '@bindery/contracts';
import type { OperationAnswer } from '@bindery/service-kit';
import type { MemberDocument } from './read-model.ts';

type Member = Extract<OperationAnswer<typeof memberOperations.getMemberInOrganizationById>, { status: 200 }>['body'];

/** A member as the API shows it; the gateway puts the user in. Grants and teams do not exist yet, hence the zeros. */
export const presentMember = (
  { userId, role, joinedAt }: Pick<MemberDocument, 'userId' | 'role' | 'joinedAt'>,
  lastSeenAt: string | undefined,
): Member => ({
  object: 'member',
  id: userId,
  role,
  user: userId,
  disabled: false,
  joinedAt,
  ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
  sso: false,
  spaces: 0,
  teams: 0,
  sites: 0,
});
