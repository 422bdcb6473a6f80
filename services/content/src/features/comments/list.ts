import type { Query, Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { Reaction } from './reaction-rules.ts';
import type { ReplyNote, StoredBody } from './read-model/document.ts';

interface Weighed {
  readonly body: StoredBody;
  readonly reactions: readonly Reaction[];
  readonly replies?: readonly ReplyNote[];
}

/** One page of comments or replies. */
export interface BodiesPage<T> {
  readonly items: readonly Stored<T>[];
  readonly next?: { readonly page: string };
  readonly count: number;
}

const defaultLimit = 50;
/** Documents read at once: at the largest they take some 20 MB. */
const batch = 100;
/** Characters of what a page holds, about; it ends early, with a cursor, when it is that heavy. */
const maxWeight = 4_000_000;

const weightOf = ({ body, reactions, replies = [] }: Weighed): number =>
  500 + body.json.length + (body.markdown?.length ?? 0) + 250 * (reactions.length + Math.min(replies.length, 100));

/**
 * One page of a collection of bodies, by keyset. A page may hold fewer than `limit` though there are more: it is bounded by
 * what it weighs, too.
 * @param field the sort field
 * @throws Problem 400 for a cursor of another list
 */
export const pageOfBodies = async <T extends Weighed>(
  collection: { query(query: Query): Promise<readonly Stored<T>[]>; count(where?: Where): Promise<number> },
  query: { readonly where: Where; readonly field: keyof T & string; readonly direction: 'asc' | 'desc' },
  request: { readonly list: string; readonly page?: string | undefined; readonly limit?: number | undefined },
  cursors: CursorCodec,
): Promise<BodiesPage<T>> => {
  const { where, field, direction } = query;
  const { list, page, limit = defaultLimit } = request;
  let after: readonly Scalar[] | undefined = page === undefined ? undefined : cursors.decode(list, page);
  const positionOf = ({ id, document }: Stored<T>): readonly Scalar[] => [document[field] as Scalar, id];
  const count = await collection.count(where);
  const items: Stored<T>[] = [];
  let weight = 0;
  while (items.length < limit) {
    const wanted = Math.min(batch, limit - items.length);
    const found = await collection.query({
      where,
      orderBy: [{ field, direction }],
      limit: wanted + 1,
      ...(after ? { after } : {}),
    });
    for (const item of found.slice(0, wanted)) {
      items.push(item);
      weight += weightOf(item.document);
      after = positionOf(item);
      if (weight >= maxWeight) break;
    }
    const last = items.at(-1);
    if (last === undefined || (found.length <= wanted && last === found.at(-1))) return { items, count };
    if (weight >= maxWeight || items.length === limit)
      return { items, count, next: { page: cursors.encode(list, positionOf(last)) } };
  }
  return { items, count };
};
