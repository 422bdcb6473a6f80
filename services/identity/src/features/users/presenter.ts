import type { userOperations } from '@bindery/contracts';
import type { OperationAnswer } from '@bindery/service-kit';
import type { UserDocument } from './read-model.ts';

type PublicProfile = Pick<UserDocument, 'id' | 'displayName' | 'email' | 'photoURL'>;
type User = Extract<OperationAnswer<typeof userOperations.getUserById>, { status: 200 }>['body'];

/** A user as the API shows it. */
export const presentUser = ({ id, displayName, email, photoURL }: PublicProfile, baseUrl: string): User => ({
  object: 'user',
  id,
  displayName,
  ...(email === undefined ? {} : { email }),
  ...(photoURL === undefined ? {} : { photoURL }),
  urls: { location: `${baseUrl}/v1/users/${id}` },
});
