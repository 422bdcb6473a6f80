import type { LiveCollection } from '@bindery/event-sourcing';
import { type UserDocument, userCollection } from './read-model.ts';

/** Opens the users that are read now; asked again for every request, since a rebuild may have switched. */
export type LiveUsers = () => ReturnType<typeof openUsers>;

export const openUsers = (live: LiveCollection) => live<UserDocument>(userCollection);

const most = 1000;

/** Users by id, any number of them; those that do not exist are left out. */
export const usersById = async (
  users: LiveUsers,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserDocument>> => {
  const found = new Map<string, UserDocument>();
  for (let start = 0; start < ids.length; start += most)
    for (const [id, { document }] of await users().getMany(ids.slice(start, start + most))) found.set(id, document);
  return found;
};
