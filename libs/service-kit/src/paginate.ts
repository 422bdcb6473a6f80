import type { Collection, Query, Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from './cursors.ts';

/** Which documents a list shows, in which order. */
export interface ListQuery {
  readonly where?: Where;
  readonly orderBy?: Query['orderBy'];
}

/** The paging part of a request, with the default limit filled in by the contract. */
export interface PageRequest {
  readonly page?: string;
  /** 0..1000; 0 answers the count alone. */
  readonly limit?: number;
}

export interface Page<T> {
  readonly items: readonly Stored<T>[];
  /** Present only when there is more. */
  readonly next?: { readonly page: string };
  /** Size of the whole list. */
  readonly count: number;
}

const defaultLimit = 50;

/**
 * One page of a collection, by keyset, so that a page costs the same wherever it lies.
 * @param list `listIdentity` of the request
 * @throws Problem 400 for a cursor of another list
 */
export async function paginate<T>(
  collection: Pick<Collection<T>, 'query' | 'count'>,
  list: string,
  query: ListQuery,
  request: PageRequest,
  cursors: CursorCodec,
): Promise<Page<T>> {
  const limit = request.limit ?? defaultLimit;
  const after = request.page === undefined ? undefined : cursors.decode(list, request.page);
  const where = query.where ?? {};
  const [count, found] = await Promise.all([
    collection.count(where),
    limit === 0
      ? Promise.resolve<readonly Stored<T>[]>([])
      : collection.query({
          where,
          limit: limit + 1,
          ...(query.orderBy && { orderBy: query.orderBy }),
          ...(after && { after }),
        }),
  ]);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || !last) return { items, count };
  const position = [...(query.orderBy ?? []).map(({ field }) => valueAt(last.document, field)), last.id];
  return { items, count, next: { page: cursors.encode(list, position) } };
}

function valueAt(document: unknown, field: string): Scalar {
  let value: unknown = document;
  for (const step of field.split('.')) value = Object(value)[step];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
