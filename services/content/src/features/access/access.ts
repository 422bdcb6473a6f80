import {
  atLeast,
  forbidden,
  type MemberRole,
  membershipIn,
  notFound,
  type OperationContext,
} from '@bindery/service-kit';
import { type CollectionDocument, type CollectionTree, type SpaceDocument, topLevel } from '../space-model/index.ts';
import {
  type CollectionNeed,
  type CollectionPermissions,
  collectionPermissionsOf,
  type Default,
  levelOn,
  permissionsOf,
  type SpaceNeed,
  type SpacePermissions,
} from './levels.ts';
import { type VisibleSpaces, visibleTo } from './visible.ts';

/** Who asks. */
export type Caller = Pick<OperationContext, 'principal'>;

/** The caller's level on a space and what it may do there. */
export interface Described {
  readonly level: MemberRole | null;
  readonly permissions: SpacePermissions;
}

/** A space that the caller may use as it needs to. */
export interface SpaceAccess extends Described {
  readonly space: SpaceDocument;
  /** Revision of the space's stream that `space` shows. */
  readonly streamRevision: number;
}

/** A collection that the caller may use as it needs to. */
export interface CollectionAccess {
  readonly collection: CollectionDocument;
  readonly level: MemberRole | null;
  readonly permissions: CollectionPermissions;
  readonly tree: CollectionTree;
}

/** What members and their teams were given. */
export interface GrantSource {
  /** The caller's highest grant on any of these; asked only for members of the organization. */
  highest(context: Caller, organizationId: string, resourceIds: readonly string[]): Promise<MemberRole | null>;
  /** All grants of the caller in an organization: levels by space or collection. */
  all(context: Caller, organizationId: string): Promise<ReadonlyMap<string, MemberRole>>;
}

/** The collections of organizations. */
export interface CollectionSource {
  /** As they are now; the same object as long as nothing changes. */
  tree(organizationId: string): Promise<CollectionTree>;
  /** The collection with this id, wherever it is. */
  find(collectionId: string): Promise<CollectionDocument | undefined>;
}

export interface AccessDeps {
  /** Reads the document of a space. */
  readonly spaces: {
    get(id: string): Promise<{ readonly revision: number; readonly document: SpaceDocument } | undefined>;
  };
  readonly grants: GrantSource;
  readonly collections: CollectionSource;
}

/** What one caller sees of one organization at one moment: read once, then asked about many spaces. */
export interface Lens {
  readonly visible: VisibleSpaces;
  readonly tree: CollectionTree;
  describe(space: SpaceDocument): Described;
  describeCollection(collection: CollectionDocument): Pick<CollectionAccess, 'level' | 'permissions'>;
}

/** Who may do what, in one place: every operation goes through it, and `permissions` comes out of it (PITFALLS 53). */
export interface Access {
  /**
   * Loads a space for a caller that needs something of it.
   * @param options.deleted `shown`: a deleted space is there for its administrators (restore). Default: it is nowhere.
   * @throws Problem not-found when the caller may not view it, forbidden when it may view but not do this
   */
  space(
    context: Caller,
    spaceId: string,
    need: SpaceNeed,
    options?: { readonly deleted?: 'shown' },
  ): Promise<SpaceAccess>;
  /** As `space`, for a collection. */
  collection(context: Caller, collectionId: string, need: CollectionNeed): Promise<CollectionAccess>;
  /** The caller's level and flags on a space that was loaded already; `permissions.view` may be false. For many: `lens`. */
  describe(context: Caller, space: SpaceDocument): Promise<Described> | Described;
  /**
   * `view`: is a member. `edit`: its role there is edit or higher. `createContent`, `createOpenAPISpec`: may create spaces and collections, or OpenAPI specifications
   * (role create or admin). `admin`: administers it.
   * @throws Problem not-found, forbidden
   */
  organization(
    context: Caller,
    organizationId: string,
    need: 'view' | 'edit' | 'createContent' | 'createOpenAPISpec' | 'admin',
  ): void;
  /** @throws Problem not-found when the caller is not in the organization */
  visibleSpaces(context: Caller, organizationId: string): Promise<VisibleSpaces>;
  /** @throws Problem not-found when the caller is not in the organization */
  lens(context: Caller, organizationId: string): Promise<Lens>;
}

const refusals: Readonly<Record<Exclude<SpaceNeed, 'view'>, string>> = {
  comment: 'You may not comment in this space.',
  edit: 'You may not edit this space.',
  review: 'You may not review in this space.',
  merge: 'You may not merge in this space.',
  triggerGitSync: 'You may not sync this space with a repository.',
  admin: 'Only administrators of the space may do this.',
};
const collectionRefusals: Readonly<Record<Exclude<CollectionNeed, 'view'>, string>> = {
  create: 'You may not add anything to this collection.',
  admin: 'Only administrators of the collection may do this.',
};

/** Whether grants matter: administrators have everything, strangers nothing. */
const dependsOnGrants = ({ principal }: Caller, organizationId: string): boolean => {
  if (principal.kind === 'service') return false;
  const membership = membershipIn(principal, organizationId);
  return membership !== undefined && membership.role !== 'admin';
};

/** Its level when grants and defaults are known. @param around defaults of the place of the space */
const levelIn = (
  context: Caller,
  space: SpaceDocument,
  direct: MemberRole | null,
  around: readonly Default[],
): Described => {
  const { organizationId, defaultLevel } = space;
  const { principal } = context;
  const known = { principal, organizationId, grants: { direct }, collectionDefaults: around };
  let level = levelOn({ ...known, defaultLevel });
  // Whoever may enter the collection may read it (reference: Space, `visibility`).
  if (level === null && space.visibility === 'in-collection' && space.place !== topLevel)
    level = levelOn({ ...known, defaultLevel: 'inherit' }) === null ? null : 'read';
  return { level, permissions: permissionsOf(level, space.editMode === 'locked') };
};

export const createAccess = ({ spaces, grants, collections }: AccessDeps): Access => {
  const resourcesOf = (space: SpaceDocument, tree: CollectionTree | undefined): readonly string[] =>
    tree === undefined ? [space.id] : [space.id, ...tree.chain(space.place).map(({ id }) => id)];

  const describe: Access['describe'] = (context, space) => {
    const { organizationId, place } = space;
    if (!dependsOnGrants(context, organizationId)) return levelIn(context, space, null, []);
    if (place === topLevel)
      return grants
        .highest(context, organizationId, [space.id])
        .then((granted) => levelIn(context, space, granted, []));
    return collections.tree(organizationId).then(async (tree) => {
      const granted = await grants.highest(context, organizationId, resourcesOf(space, tree));
      return levelIn(context, space, granted, tree.defaults(place));
    });
  };

  /** In a collection that was deleted or went elsewhere: as good as deleted, until that has reached the space itself. */
  const isStray = async ({ place, organizationId }: SpaceDocument): Promise<boolean> =>
    place !== topLevel && (await collections.tree(organizationId)).get(place) === undefined;

  const whoIs = (context: Caller, organizationId: string): 'all' | 'member' | 'guest' => {
    if (context.principal.kind === 'service') return 'all';
    const membership = membershipIn(context.principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (membership.role === 'admin') return 'all';
    return membership.role === null ? 'guest' : 'member';
  };

  const collectionLevel = (
    context: Caller,
    collection: CollectionDocument,
    tree: CollectionTree,
    direct: MemberRole | null,
  ): Pick<CollectionAccess, 'level' | 'permissions'> => {
    const [defaultLevel = null, ...collectionDefaults] = tree.defaults(collection.id);
    const { organizationId } = collection;
    const { principal } = context;
    const level = levelOn({ principal, organizationId, defaultLevel, collectionDefaults, grants: { direct } });
    return { level, permissions: collectionPermissionsOf(level) };
  };

  const lens: Access['lens'] = async (context, organizationId) => {
    const who = whoIs(context, organizationId);
    const none: ReadonlyMap<string, MemberRole> = new Map();
    const [tree, granted] = await Promise.all([
      collections.tree(organizationId),
      who === 'all' ? none : grants.all(context, organizationId),
    ]);
    const highest = (ids: readonly string[]): MemberRole | null => {
      let level: MemberRole | null = null;
      for (const id of granted.size === 0 ? [] : ids) {
        const given = granted.get(id);
        if (given !== undefined && atLeast(given, level ?? 'read')) level = given;
      }
      return level;
    };
    return {
      tree,
      visible: visibleTo(who, tree, granted.keys()),
      describe: (space) => {
        const around = space.place === topLevel ? [] : tree.defaults(space.place);
        return levelIn(context, space, highest(resourcesOf(space, tree)), around);
      },
      describeCollection: (collection) =>
        collectionLevel(context, collection, tree, highest(tree.chain(collection.id).map(({ id }) => id))),
    };
  };

  return {
    describe,
    lens,
    async space(context, spaceId, need, options) {
      const stored = await spaces.get(spaceId);
      if (stored === undefined) throw notFound('space');
      const { document } = stored;
      const described = describe(context, document);
      const { level, permissions } = described instanceof Promise ? await described : described;
      const hidden = document.deleted && !(options?.deleted === 'shown' && permissions.admin);
      if (!permissions.view || hidden) throw notFound('space');
      if (!document.deleted && document.place !== topLevel && (await isStray(document))) throw notFound('space');
      if (!permissions[need]) {
        const within = { organizationId: document.organizationId };
        const locked = document.editMode === 'locked' && permissionsOf(level, false)[need];
        if (locked)
          throw forbidden(
            'space.locked',
            'The space is locked: nobody can edit or merge until it is unlocked.',
            within,
          );
        throw forbidden(`space.${need}_needed`, need === 'view' ? refusals.admin : refusals[need], within);
      }
      return { space: document, streamRevision: stored.revision, level, permissions };
    },
    async collection(context, collectionId, need) {
      const found = await collections.find(collectionId);
      if (found === undefined) throw notFound('collection');
      const { organizationId } = found;
      if (context.principal.kind !== 'service' && membershipIn(context.principal, organizationId) === undefined)
        throw notFound('collection');
      const tree = await collections.tree(organizationId);
      const collection = tree.get(collectionId);
      if (collection === undefined) throw notFound('collection');
      const ids = tree.chain(collectionId).map(({ id }) => id);
      const granted = dependsOnGrants(context, organizationId)
        ? await grants.highest(context, organizationId, ids)
        : null;
      const { level, permissions } = collectionLevel(context, collection, tree, granted);
      if (!permissions.view) throw notFound('collection');
      if (need !== 'view' && !permissions[need])
        throw forbidden(`collection.${need}_needed`, collectionRefusals[need], { organizationId });
      return { collection, tree, level, permissions };
    },
    organization(context, organizationId, need) {
      if (context.principal.kind === 'service') return;
      const membership = membershipIn(context.principal, organizationId);
      if (membership === undefined) throw notFound('organization');
      if (need === 'edit' && !atLeast(membership.role, 'edit'))
        throw forbidden('organization.edit_needed', 'You may not edit content of this organization.');
      if (need === 'createContent' && !atLeast(membership.role, 'create'))
        throw forbidden('organization.create_needed', 'You may not create content in this organization.');
      if (need === 'createOpenAPISpec' && !atLeast(membership.role, 'create'))
        throw forbidden(
          'organization.create_needed',
          'You may not change OpenAPI specifications of this organization.',
        );
      if (need === 'admin' && membership.role !== 'admin')
        throw forbidden('organization.admin_needed', 'Only administrators of the organization may do this.');
    },
    visibleSpaces: async (context, organizationId) => (await lens(context, organizationId)).visible,
  };
};
