import { type CollectionTree, type SpaceDocument, topLevel } from '../space-model/index.ts';

/** Which spaces of an organization the caller may view, for filters in stores and indexes. */
export interface VisibleSpaces {
  readonly organizationId: string;
  /** All of them. */
  readonly all: boolean;
  /** Those whose own default reaches every member. */
  readonly openToMembers: boolean;
  /**
   * Places (collections, and the top level) whose spaces are visible when they leave it to the place; `every`: there is
   * no other one.
   */
  readonly inheriting: readonly string[] | 'every';
  /** The other places, whose spaces are not visible when they leave it to the place. */
  readonly shut: readonly string[];
  /** Collections whose spaces are all visible, since the collection or one around it was given. */
  readonly given: readonly string[];
  /** Spaces that the caller, or a team of it, was given. */
  readonly granted: readonly string[];
  /** Whether it may view a space, as the filters say it. */
  sees(space: SpaceDocument): boolean;
}

const everything = (organizationId: string): VisibleSpaces => ({
  organizationId,
  all: true,
  openToMembers: true,
  inheriting: 'every',
  shut: [],
  given: [],
  granted: [],
  sees: (space) => space.organizationId === organizationId && !space.deleted,
});

/**
 * The same rules as `levelOn`, turned around: instead of the level on one space, the spaces with any level.
 * @param who `all`: administrators and our own services; `member`: has a role; `guest`: has only grants
 * @param granted spaces and collections that grants name
 */
export const visibleTo = (
  who: 'all' | 'member' | 'guest',
  tree: CollectionTree,
  granted: Iterable<string>,
): VisibleSpaces => {
  const { organizationId } = tree;
  if (who === 'all') return everything(organizationId);
  const ids = [...granted];
  const given = tree.within(ids);
  const openToMembers = who === 'member';
  const open = (id: string): boolean => given.has(id) || (openToMembers && tree.isOpen(id));
  const collections = tree.all.map(({ id }) => id);
  const reached = collections.filter(open);
  const inheriting = openToMembers ? [topLevel, ...reached] : reached;
  const every = openToMembers && reached.length === collections.length;
  const places = new Set(inheriting);
  const spaces = new Set(ids.filter((id) => tree.get(id) === undefined));
  return {
    organizationId,
    all: false,
    openToMembers,
    inheriting: every ? 'every' : inheriting,
    shut: [...(openToMembers ? [] : [topLevel]), ...collections.filter((id) => !places.has(id))],
    given: [...given],
    granted: [...spaces],
    sees(space) {
      if (space.organizationId !== organizationId || space.deleted) return false;
      if (space.place !== topLevel && tree.get(space.place) === undefined) return false;
      if (spaces.has(space.id) || given.has(space.place)) return true;
      if (space.audience === 'inherit') return places.has(space.place);
      return openToMembers && space.audience === 'open';
    },
  };
};
