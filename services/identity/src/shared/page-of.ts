import type { CursorCodec } from '@bindery/service-kit';

/** Orders texts by code point, as the read store does: the same everywhere, whatever the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * One page of a list that is held in memory because no index has its order. By key, then id; the cursor is the place of the
 * last item, so that items that come and go meanwhile neither repeat nor skip others.
 * @throws Problem 400 for a cursor of another list
 */
export const pageOf = <T>(
  all: readonly T[],
  options: {
    readonly list: string;
    readonly keyOf: (item: T) => string;
    readonly idOf: (item: T) => string;
    readonly order: 'asc' | 'desc';
    readonly limit: number;
    readonly page: string | undefined;
    readonly cursors: CursorCodec;
  },
): { readonly items: readonly T[]; readonly count: number; readonly next?: { page: string } } => {
  const { list, keyOf, idOf, order, limit, page, cursors } = options;
  const sign = order === 'asc' ? 1 : -1;
  const [key, id] = page === undefined ? [] : cursors.decode(list, page);
  const beyond = (item: T): boolean =>
    page === undefined || sign * (compare(keyOf(item), String(key)) || compare(idOf(item), String(id))) > 0;
  const rest = all.filter(beyond).sort((a, b) => sign * (compare(keyOf(a), keyOf(b)) || compare(idOf(a), idOf(b))));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || rest.length <= limit) return { items, count: all.length };
  return { items, count: all.length, next: { page: cursors.encode(list, [keyOf(last), idOf(last)]) } };
};
