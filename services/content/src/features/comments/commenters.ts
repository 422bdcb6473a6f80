import type { Scalar } from '@bindery/read-store';
import type { CommentDeps } from './deps.ts';

/** Somebody who commented or replied. */
export interface Commenter {
  readonly user: string;
  /** How often. */
  readonly count: number;
  /** When last, ISO time. */
  readonly updatedAt: string;
}

const batch = 100;
/** Comments looked at, the newest first. */
const maxComments = 2000;

/**
 * Who took part in the discussion of a change request or space, the latest first: of its newest 2,000 comments and their
 * replies.
 * @param place id of the change request or space
 */
export const commentersOf = async (
  { comments }: Pick<CommentDeps, 'comments'>,
  place: string,
): Promise<readonly Commenter[]> => {
  const found = new Map<string, Commenter>();
  const note = (user: string, at: string): void => {
    const known = found.get(user);
    const updatedAt = known === undefined || known.updatedAt < at ? at : known.updatedAt;
    found.set(user, { user, count: (known?.count ?? 0) + 1, updatedAt });
  };
  let after: readonly Scalar[] | undefined;
  for (let seen = 0; seen < maxComments; seen += batch) {
    const page = await comments.query({
      where: { place },
      orderBy: [{ field: 'postedAt', direction: 'desc' }],
      limit: batch,
      ...(after ? { after } : {}),
    });
    for (const { document } of page) {
      note(document.postedBy, document.postedAt);
      for (const { by, at } of document.replies) note(by, at);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < batch) break;
    after = [last.document.postedAt, last.id];
  }
  return [...found.values()].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
};
