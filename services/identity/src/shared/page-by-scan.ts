import { limits } from '@bindery/contracts';
import type { Collection, Query, Scalar, Stored } from '@bindery/read-store';
import type { CursorCodec, ListQuery, PageRequest } from '@bindery/service-kit';

/** Documents that one request looks at, at most. */
const mostScanned = 10_000;
const chunk = 1000;

export interface ScanOptions<T> {
  readonly collection: Pick<Collection<T>, 'query'>;
  readonly query: ListQuery & { readonly orderBy: NonNullable<Query['orderBy']> };
  readonly list: string;
  readonly cursors: CursorCodec;
  readonly request: PageRequest;
  readonly signal: AbortSignal;
  /** Those that belong to the list, in the order given. */
  keep(found: readonly Stored<T>[]): Promise<readonly Stored<T>[]>;
}

/**
 * One page of a list whose filter no index has: reads along an index and keeps what fits, until the page is full. A request
 * looks at a bounded number of documents, then answers what it has and where to go on: nothing is held whole, however
 * large the organization.
 * @throws Problem 400 for a cursor of another list
 */
export const pageByScan = async <T>(
  options: ScanOptions<T>,
): Promise<{ readonly items: readonly Stored<T>[]; readonly next?: { readonly page: string } }> => {
  const { collection, query, list, cursors, request, signal, keep } = options;
  const { limit = limits.page.default, page } = request;
  const items: Stored<T>[] = [];
  let after: readonly Scalar[] | undefined = page === undefined ? undefined : cursors.decode(list, page);
  if (limit === 0) return { items };
  const placeOf = ({ id, document }: Stored<T>): readonly Scalar[] => [
    ...query.orderBy.map(({ field }): Scalar => scalarOf(document, field)),
    id,
  ];
  for (let scanned = 0; scanned < mostScanned; ) {
    signal.throwIfAborted();
    const rows = await collection.query({ ...query, limit: chunk, ...(after === undefined ? {} : { after }) });
    for (const kept of await keep(rows)) {
      if (items.length === limit) return { items, next: { page: cursors.encode(list, placeOf(last(items))) } };
      items.push(kept);
    }
    if (rows.length < chunk) return { items };
    after = placeOf(last(rows));
    scanned += rows.length;
  }
  return { items, next: { page: cursors.encode(list, after ?? []) } };
};

const last = <T>(rows: readonly T[]): T => {
  const row = rows.at(-1);
  if (row === undefined) throw new Error('a page of rows is empty');
  return row;
};

const scalarOf = (document: unknown, field: string): Scalar => {
  const value: unknown = Object(document)[field];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
};
