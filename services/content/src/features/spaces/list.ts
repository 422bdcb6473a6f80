import type { Collection, Scalar, Stored, Where } from '@bindery/read-store';
import type { CursorCodec } from '@bindery/service-kit';
import type { VisibleSpaces } from '../access/index.ts';
import { byOrder, type SpaceDocument } from '../space-model/index.ts';

/** The live read model of spaces, for reading. */
export type SpacesCollection = Pick<Collection<SpaceDocument>, 'get' | 'getMany' | 'query' | 'count' | 'scan' | 'spec'>;

export interface SpacePage {
  readonly items: readonly Stored<SpaceDocument>[];
  readonly next?: { readonly page: string };
  readonly count: number;
}

/** What is asked of a list of spaces. */
export interface SpaceListRequest {
  readonly page?: string;
  readonly limit: number;
  /** Identity of the list, so that its cursors work nowhere else. */
  readonly list: string;
  readonly direction?: 'asc' | 'desc';
  /** Only those directly in this collection. */
  readonly place?: string;
}

/** Spaces of one organization that are looked at, one by one, to find those that are hidden. */
const maxLooked = 100_000;
/** Values in one `in`, and documents in one read (read store port). */
const maxValues = 1000;

const inPieces = (values: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(values.length / maxValues) }, (_, index) =>
    values.slice(index * maxValues, (index + 1) * maxValues),
  );

/**
 * Filters, no two of which match the same space, that together match what the caller may view, apart from the spaces that
 * it was given themselves: those are `extras`.
 */
export const visibleWhere = (visible: VisibleSpaces): readonly Where[] => {
  const { organizationId, all, openToMembers, inheriting, given } = visible;
  const here = { organizationId, deleted: false };
  if (all) return [here];
  const asked =
    inheriting === 'every'
      ? [{ ...here, audience: 'inherit' }]
      : inPieces(inheriting).map((places) => ({
          ...here,
          audience: 'inherit',
          place: { in: places },
        }));
  const rest = openToMembers ? { audience: 'closed' } : { audience: { in: ['open', 'closed'] } };
  return [
    ...(openToMembers ? [{ ...here, audience: 'open' }] : []),
    ...asked,
    ...inPieces(given).map((places) => ({ ...here, ...rest, place: { in: places } })),
  ];
};

/** Spaces that the caller was given and that no filter of `visibleWhere` matches. */
const extras = async (spaces: SpacesCollection, visible: VisibleSpaces): Promise<readonly Stored<SpaceDocument>[]> => {
  const { granted, given, inheriting, openToMembers } = visible;
  const inside = new Set(given);
  const reached = inheriting === 'every' ? undefined : new Set(inheriting);
  const matched = ({ audience, place }: SpaceDocument): boolean =>
    inside.has(place) ||
    (audience === 'open' && openToMembers) ||
    (audience === 'inherit' && (reached?.has(place) ?? true));
  const found: Stored<SpaceDocument>[] = [];
  for (const ids of inPieces(granted))
    for (const stored of (await spaces.getMany(ids)).values())
      if (visible.sees(stored.document) && !matched(stored.document)) found.push(stored);
  return found;
};

const asSibling = ({ id, document }: Stored<SpaceDocument>) => ({ id, order: document.order });

/** One page of the spaces that the caller may view, in their order; filtered and paged in the store. */
export const listSpaces = async (
  spaces: SpacesCollection,
  visible: VisibleSpaces,
  request: SpaceListRequest,
  cursors: CursorCodec,
): Promise<SpacePage> => {
  const { limit, list, direction = 'asc', place } = request;
  const after: readonly Scalar[] | undefined =
    request.page === undefined ? undefined : cursors.decode(list, request.page);
  const filters = place === undefined ? visibleWhere(visible) : visibleIn(visible, place);
  const orderBy = [{ field: 'order', direction }] as const;
  const [more, counts, found] = await Promise.all([
    extras(spaces, visible),
    Promise.all(filters.map((where) => spaces.count(where))),
    Promise.all(
      filters.map((where) =>
        limit === 0 ? [] : spaces.query({ where, orderBy, limit: limit + 1, ...(after ? { after } : {}) }),
      ),
    ),
  ]);
  const sign = direction === 'asc' ? 1 : -1;
  const given = more.filter(({ document }) => place === undefined || document.place === place);
  const count = counts.reduce((sum, it) => sum + it, given.length);
  const beyond = given.filter((stored) => limit > 0 && isAfter(stored, after, sign));
  const lists = [...found, beyond].filter((it) => it.length > 0);
  const merged =
    lists.length === 1 && beyond.length === 0
      ? (lists[0] ?? [])
      : lists.flat().sort((a, b) => sign * byOrder(asSibling(a), asSibling(b)));
  const items = merged.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || merged.length <= limit) return { items, count };
  return { items, count, next: { page: cursors.encode(list, [last.document.order, last.id]) } };
};

const isAfter = (stored: Stored<SpaceDocument>, after: readonly Scalar[] | undefined, sign: number): boolean => {
  if (after === undefined) return true;
  const [order, id] = after;
  return sign * byOrder(asSibling(stored), { order: String(order), id: String(id) }) > 0;
};

/** `visibleWhere`, for the spaces of one place. */
const visibleIn = (visible: VisibleSpaces, place: string): readonly Where[] => {
  const here = { organizationId: visible.organizationId, deleted: false, place };
  if (visible.all || visible.given.includes(place)) return [here];
  const asked = visible.inheriting === 'every' || visible.inheriting.includes(place);
  return [
    ...(visible.openToMembers ? [{ ...here, audience: 'open' }] : []),
    ...(asked ? [{ ...here, audience: 'inherit' }] : []),
  ];
};

/** How many spaces the caller may view. */
export const countSpaces = async (spaces: SpacesCollection, visible: VisibleSpaces): Promise<number> => {
  const [more, counts] = await Promise.all([
    extras(spaces, visible),
    Promise.all(visibleWhere(visible).map((where) => spaces.count(where))),
  ]);
  return counts.reduce((sum, it) => sum + it, more.length);
};

/** Every space that the caller may view, in no order, some hundred at a time; stops after `most`. */
export async function* visibleDocuments(
  spaces: SpacesCollection,
  visible: VisibleSpaces,
  most: number,
): AsyncGenerator<SpaceDocument> {
  let seen = 0;
  for (const { document } of await extras(spaces, visible)) {
    yield document;
    seen += 1;
  }
  for (const where of visibleWhere(visible))
    for await (const document of documentsWhere(spaces, where, most - seen)) {
      yield document;
      seen += 1;
    }
}

/** Every space that a member with a role may not view, in no order; stops after `most`. */
export async function* hiddenDocuments(
  spaces: SpacesCollection,
  visible: VisibleSpaces,
  most: number,
): AsyncGenerator<SpaceDocument> {
  if (visible.all) return;
  const here = { organizationId: visible.organizationId, deleted: false };
  const wheres = [
    { ...here, audience: 'closed' },
    ...inPieces(visible.shut).map((places) => ({ ...here, audience: 'inherit', place: { in: places } })),
  ];
  let seen = 0;
  for (const where of wheres)
    for await (const document of documentsWhere(spaces, where, maxLooked)) {
      if (visible.sees(document)) continue;
      if (seen >= most) return;
      yield document;
      seen += 1;
    }
}

/** Every space that matches, in no order; stops after `most`. */
export async function* documentsWhere(
  spaces: SpacesCollection,
  where: Where,
  most: number,
): AsyncGenerator<SpaceDocument> {
  let seen = 0;
  for (let after: readonly Scalar[] | undefined; seen < most; ) {
    const found = await spaces.query({ where, limit: maxValues, ...(after ? { after } : {}) });
    for (const { document } of found) {
      if (seen >= most) return;
      yield document;
      seen += 1;
    }
    const last = found.at(-1);
    if (last === undefined || found.length < maxValues) return;
    after = [last.id];
  }
}
