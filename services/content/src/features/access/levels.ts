import { atLeast, type MemberRole, maxRole, membershipIn, type Principal } from '@bindery/service-kit';

/** What an operation needs of a space. */
export type SpaceNeed = 'view' | 'comment' | 'edit' | 'review' | 'merge' | 'triggerGitSync' | 'admin';

/** The `permissions` of a space (reference: Space). */
export interface SpacePermissions {
  readonly view: boolean;
  readonly access: boolean;
  readonly admin: boolean;
  readonly viewInviteLinks: boolean;
  readonly edit: boolean;
  readonly triggerGitSync: boolean;
  readonly comment: boolean;
  readonly merge: boolean;
  readonly review: boolean;
  readonly installIntegration: boolean;
}

/** A default level: a role, nothing (null), or what the parent says. */
export type Default = MemberRole | null | 'inherit';

/** Levels given to the caller itself and to its teams, on the space or on a collection around it. */
export interface Grants {
  readonly direct?: MemberRole | null;
  readonly teams?: readonly (MemberRole | null)[];
}

/** What a caller's level on a space depends on. */
export interface LevelInput {
  readonly principal: Principal;
  readonly organizationId: string;
  readonly defaultLevel: Default;
  /** Defaults of the collections around the space, the nearest first. */
  readonly collectionDefaults: readonly Default[];
  readonly grants: Grants;
}

/**
 * The caller's level on a space (DESIGN section 7): the highest of its direct grant, the grants of its teams, and the
 * default, which comes from the nearest of space, collections and organization role that sets one. Organization admins
 * are admins everywhere; guests (role null) have only grants; our own services act for the system and may do all.
 * @returns null when the caller may not even know that the space exists
 */
export const levelOn = (input: LevelInput): MemberRole | null => {
  if (input.principal.kind === 'service') return 'admin';
  const membership = membershipIn(input.principal, input.organizationId);
  if (membership === undefined) return null;
  if (membership.role === 'admin') return 'admin';
  const granted = (input.grants.teams ?? []).reduce<MemberRole | null>(maxRole, input.grants.direct ?? null);
  if (membership.role === null) return granted;
  const nearest = [input.defaultLevel, ...input.collectionDefaults].find(
    (level): level is MemberRole | null => level !== 'inherit',
  );
  return maxRole(granted, nearest === undefined ? membership.role : nearest);
};

/**
 * What each level may do. Levels are cumulative:
 *
 * | level   | adds |
 * | ------- | ---- |
 * | read    | `view`, `access` |
 * | comment | `comment` |
 * | edit    | `edit`: open change requests, edit their content, update and archive them |
 * | review  | `review`, `merge` |
 * | create  | `triggerGitSync` |
 * | admin   | `admin` (settings, deletion), `viewInviteLinks`, `installIntegration` |
 *
 * In a locked space nobody has `edit`, `merge` or `triggerGitSync`; its administrators can unlock it.
 */
export const permissionsOf = (level: MemberRole | null, locked: boolean): SpacePermissions => ({
  view: atLeast(level, 'read'),
  access: atLeast(level, 'read'),
  admin: atLeast(level, 'admin'),
  viewInviteLinks: atLeast(level, 'admin'),
  edit: atLeast(level, 'edit') && !locked,
  triggerGitSync: atLeast(level, 'create') && !locked,
  comment: atLeast(level, 'comment'),
  merge: atLeast(level, 'review') && !locked,
  review: atLeast(level, 'review'),
  installIntegration: atLeast(level, 'admin'),
});

/** What an operation needs of a collection. */
export type CollectionNeed = 'view' | 'create' | 'admin';

/** The `permissions` of a collection (reference: Collection). */
export interface CollectionPermissions {
  readonly view: boolean;
  readonly admin: boolean;
  readonly viewInviteLinks: boolean;
  readonly create: boolean;
}

/** What each level may do with a collection: read = `view`, create = `create`, admin = `admin` and `viewInviteLinks`. */
export const collectionPermissionsOf = (level: MemberRole | null): CollectionPermissions => ({
  view: atLeast(level, 'read'),
  admin: atLeast(level, 'admin'),
  viewInviteLinks: atLeast(level, 'admin'),
  create: atLeast(level, 'create'),
});
