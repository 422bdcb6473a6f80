import {
  atLeast,
  forbidden,
  type MemberRole,
  membershipIn,
  notFound,
  type OperationContext,
} from '@bindery/service-kit';
import type { SpaceDocument } from '../space-model/index.ts';
import { type Default, type Grants, levelOn, permissionsOf, type SpaceNeed, type SpacePermissions } from './levels.ts';

type Caller = Pick<OperationContext, 'principal'>;

/** A space that the caller may use as it needs to. */
export interface SpaceAccess {
  readonly space: SpaceDocument;
  /** Revision of the space's stream that `space` shows. */
  readonly streamRevision: number;
  readonly level: MemberRole | null;
  readonly permissions: SpacePermissions;
}

/** Which spaces of an organization the caller may view, for filters in stores and indexes. */
export interface VisibleSpaces {
  readonly organizationId: string;
  /** All of them. */
  readonly all: boolean;
  /** Those whose default reaches every member. */
  readonly openToMembers: boolean;
  /** Those that it, or a team of it, was given; at most `maxGrantedSpaces`. */
  readonly granted: readonly string[];
}

/** Grants and collections, as far as they exist. */
export interface GrantSource {
  /** Grants on the space and on what is around it, and the defaults of the collections around it, nearest first. */
  around(
    context: Caller,
    space: SpaceDocument,
  ): Promise<{ readonly grants: Grants; readonly collectionDefaults: readonly Default[] }> | undefined;
  /** Ids of the spaces that grants let the caller view. */
  spaces(context: Caller, organizationId: string): Promise<readonly string[]> | undefined;
}

/** Until there are grants: nobody has any. */
export const noGrants: GrantSource = { around: () => undefined, spaces: () => undefined };

export interface AccessDeps {
  /** Reads the document of a space. */
  readonly spaces: {
    get(id: string): Promise<{ readonly revision: number; readonly document: SpaceDocument } | undefined>;
  };
  readonly grants: GrantSource;
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
  /** The caller's level and flags on a space that was loaded already; `permissions.view` may be false. */
  describe(
    context: Caller,
    space: SpaceDocument,
  ): Promise<Pick<SpaceAccess, 'level' | 'permissions'>> | Pick<SpaceAccess, 'level' | 'permissions'>;
  /**
   * `view`: is a member. `createContent`: may create spaces (role create or admin).
   * @throws Problem not-found, forbidden
   */
  organization(context: Caller, organizationId: string, need: 'view' | 'createContent'): void;
  /** @throws Problem not-found when the caller is not in the organization */
  visibleSpaces(context: Caller, organizationId: string): Promise<VisibleSpaces>;
}

/** More granted spaces than this are not looked at in one list. */
export const maxGrantedSpaces = 1000;

const refusals: Readonly<Record<Exclude<SpaceNeed, 'view'>, string>> = {
  comment: 'You may not comment in this space.',
  edit: 'You may not edit this space.',
  review: 'You may not review in this space.',
  merge: 'You may not merge in this space.',
  admin: 'Only administrators of the space may do this.',
};

export const createAccess = ({ spaces, grants }: AccessDeps): Access => {
  const decide = (
    context: Caller,
    space: SpaceDocument,
    around: { readonly grants: Grants; readonly collectionDefaults: readonly Default[] },
  ) => {
    const { organizationId, defaultLevel } = space;
    const level = levelOn({ principal: context.principal, organizationId, defaultLevel, ...around });
    return { level, permissions: permissionsOf(level, space.editMode === 'locked') };
  };
  const nothingAround = { grants: {}, collectionDefaults: [] };
  const describe: Access['describe'] = (context, space) => {
    const around = grants.around(context, space);
    return around === undefined
      ? decide(context, space, nothingAround)
      : around.then((it) => decide(context, space, it));
  };

  return {
    describe,
    async space(context, spaceId, need, options) {
      const stored = await spaces.get(spaceId);
      if (stored === undefined) throw notFound('space');
      const described = describe(context, stored.document);
      const { level, permissions } = described instanceof Promise ? await described : described;
      const hidden = stored.document.deleted && !(options?.deleted === 'shown' && permissions.admin);
      if (!permissions.view || hidden) throw notFound('space');
      if (!permissions[need]) {
        const locked = stored.document.editMode === 'locked' && permissionsOf(level, false)[need];
        if (locked)
          throw forbidden('space.locked', 'The space is locked: nobody can edit or merge until it is unlocked.');
        throw forbidden(`space.${need}_needed`, need === 'view' ? refusals.admin : refusals[need]);
      }
      return { space: stored.document, streamRevision: stored.revision, level, permissions };
    },
    organization(context, organizationId, need) {
      if (context.principal.kind === 'service') return;
      const membership = membershipIn(context.principal, organizationId);
      if (membership === undefined) throw notFound('organization');
      if (need === 'createContent' && !atLeast(membership.role, 'create'))
        throw forbidden('organization.create_needed', 'You may not create content in this organization.');
    },
    async visibleSpaces(context, organizationId) {
      if (context.principal.kind === 'service') return { organizationId, all: true, openToMembers: true, granted: [] };
      const membership = membershipIn(context.principal, organizationId);
      if (membership === undefined) throw notFound('organization');
      if (membership.role === 'admin') return { organizationId, all: true, openToMembers: true, granted: [] };
      const granted = ((await grants.spaces(context, organizationId)) ?? []).slice(0, maxGrantedSpaces);
      return { organizationId, all: false, openToMembers: membership.role !== null, granted };
    },
  };
};
