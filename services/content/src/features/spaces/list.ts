import type { Collection, Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { VisibleSpaces } from '../access/index.ts';
import type { SpaceDocument } from '../space-model/index.ts';

/** The live read model of spaces, for reading. */
export type SpacesCollection = Pick<Collection<SpaceDocument>, 'get' | 'getMany' | 'query' | 'count' | 'scan' | 'spec'>;

export interface SpacePage {
  readonly items: readonly Stored<SpaceDocument>[];
  readonly next?: { readonly page: string };
  readonly count: number;
}

const orderBy = [{ field: 'createdAt', direction: 'asc' }] as const;

/** Filters, no two of which match the same space, that together match what the caller may view. */
export const visibleWhere = (visible: VisibleSpaces): readonly Where[] => {
  const here = { organizationId: visible.organizationId, deleted: false };
  if (visible.all) return [here];
  const open = visible.openToMembers ? [{ ...here, openToMembers: true }] : [];
  const rest = visible.openToMembers ? { ...here, openToMembers: false } : here;
  return visible.granted.length === 0 ? open : [...open, { ...rest, id: { in: visible.granted } }];
};

const byAge = (a: Stored<SpaceDocument>, b: Stored<SpaceDocument>): number => {
  const [left, right] = [a.document.createdAt, b.document.createdAt];
  if (left !== right) return left < right ? -1 : 1;
  return a.id < b.id ? -1 : 1;
};

/** One page of the spaces that the caller may view, the oldest first; filtered and paged in the store. */
export const listSpaces = async (
  spaces: SpacesCollection,
  visible: VisibleSpaces,
  request: { readonly page?: string; readonly limit: number; readonly list: string },
  cursors: CursorCodec,
): Promise<SpacePage> => {
  const { limit, list } = request;
  const after: readonly Scalar[] | undefined =
    request.page === undefined ? undefined : cursors.decode(list, request.page);
  const filters = visibleWhere(visible);
  const [counts, found] = await Promise.all([
    Promise.all(filters.map((where) => spaces.count(where))),
    Promise.all(
      filters.map((where) =>
        limit === 0 ? [] : spaces.query({ where, orderBy, limit: limit + 1, ...(after ? { after } : {}) }),
      ),
    ),
  ]);
  const count = counts.reduce((sum, it) => sum + it, 0);
  const merged = found.length === 1 ? (found[0] ?? []) : found.flat().sort(byAge);
  const items = merged.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || merged.length <= limit) return { items, count };
  return { items, count, next: { page: cursors.encode(list, [last.document.createdAt, last.id]) } };
};
