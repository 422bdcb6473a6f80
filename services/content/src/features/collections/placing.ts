import type { ContentPosition } from '@bindery/contracts';
import { conflict, invalid, type OperationContext } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import {
  byOrder,
  type CollectionTree,
  maxOrderKeyLength,
  orderKeyAt,
  orderKeyBetween,
  topLevel,
} from '../space-model/index.ts';
import type { SpacesCollection } from '../spaces/index.ts';

/** What is placed, and where it is now. */
export interface Placed {
  readonly id: string;
  readonly place: string;
  readonly order: string;
}

interface Sibling {
  readonly id: string;
  readonly order: string;
}

export interface PlacingDeps {
  readonly spaces: SpacesCollection;
  readonly access: Pick<Access, 'describe'>;
}

const badPosition = (why: string) => invalid('position.invalid', `body.position: ${why}`);

/** Reads the siblings around a place. Spaces and collections of one parent are in one order. */
const siblingsIn = (spaces: SpacesCollection, tree: CollectionTree, place: string, moving: string) => {
  const { organizationId } = tree;
  const here = { organizationId, deleted: false, place };
  const collections = tree.children(place).filter(({ id }) => id !== moving);
  const nearest = async (direction: 'asc' | 'desc', from?: string): Promise<Sibling | undefined> => {
    const beyond = from === undefined ? {} : { order: direction === 'asc' ? { gt: from } : { lt: from } };
    const orderBy = [{ field: 'order', direction }] as const;
    const found = await spaces.query({ where: { ...here, ...beyond }, orderBy, limit: 2 });
    const sign = direction === 'asc' ? 1 : -1;
    const isBeyond = ({ order }: Sibling): boolean => from === undefined || sign * (order < from ? -1 : 1) > 0;
    const candidates = [
      ...found.map(({ document: { id, order } }) => ({ id, order })).filter(({ id }) => id !== moving),
      ...collections.filter((it) => it.order !== from && isBeyond(it)),
    ];
    return candidates.sort((a, b) => sign * byOrder(a, b))[0];
  };
  return {
    next: (order: string) => nearest('asc', order),
    previous: (order: string) => nearest('desc', order),
    last: () => nearest('desc'),
  };
};

/** The key of the end of a place. */
export const orderAtEnd = async (
  { spaces }: Pick<PlacingDeps, 'spaces'>,
  tree: CollectionTree,
  place: string,
  id: string,
  now: Date,
): Promise<string> => {
  const key = orderKeyAt(now.toISOString(), id);
  const last = await siblingsIn(spaces, tree, place, id).last();
  if (last === undefined || last.order < key) return key;
  return orderKeyBetween(last.order, undefined, id) ?? key;
};

/**
 * The key of where something goes.
 * @throws Problem 400 for a position that is none, 409 when it is there already
 */
export const orderFor = async (
  deps: PlacingDeps,
  context: OperationContext,
  tree: CollectionTree,
  target: {
    readonly place: string;
    readonly position: ContentPosition | undefined;
    readonly moving: Placed;
  },
): Promise<string> => {
  const { place, position, moving } = target;
  const unchanged = () => conflict('move.unchanged', 'It is there already: the move would not change anything.');
  const named = [position?.before, position?.after].filter((it) => it !== undefined);
  if (named.length > 1) throw badPosition('give either before or after.');
  const [neighbour] = named;
  if (neighbour === undefined) {
    if (place === moving.place) throw unchanged();
    return orderAtEnd(deps, tree, place, moving.id, context.now);
  }
  const beside = await siblingAt(deps, context, tree, place, neighbour);
  if (beside === undefined || beside.id === moving.id)
    throw badPosition('names nothing beside which it could be put in this place.');
  const siblings = siblingsIn(deps.spaces, tree, place, moving.id);
  const after = position?.after !== undefined;
  const low = after ? beside : await siblings.previous(beside.order);
  const high = after ? await siblings.next(beside.order) : beside;
  if (place === moving.place) {
    const { order } = moving;
    if ((low === undefined || low.order < order) && (high === undefined || order < high.order)) throw unchanged();
  }
  const key = orderKeyBetween(low?.order, high?.order, moving.id);
  if (key === undefined)
    throw conflict(
      'position.crowded',
      `There is no room left at this place: keys have ${maxOrderKeyLength} characters.`,
    );
  return key;
};

type Neighbour = NonNullable<ContentPosition['before']>;

/** The named neighbour, when it is in this place and the caller may know of it. */
const siblingAt = async (
  { spaces, access }: PlacingDeps,
  context: OperationContext,
  tree: CollectionTree,
  place: string,
  neighbour: Neighbour,
): Promise<Sibling | undefined> => {
  if (neighbour.type === 'collection') {
    const found = tree.get(neighbour.collection);
    return found !== undefined && (found.parent ?? topLevel) === place ? found : undefined;
  }
  const found = (await spaces.get(neighbour.space))?.document;
  if (found === undefined || found.deleted || found.organizationId !== tree.organizationId || found.place !== place)
    return undefined;
  return (await access.describe(context, found)).permissions.view ? found : undefined;
};
