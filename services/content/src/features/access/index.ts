export {
  type Access,
  type AccessDeps,
  type Caller,
  type CollectionAccess,
  type CollectionSource,
  createAccess,
  type Described,
  type GrantSource,
  type Lens,
  type SpaceAccess,
} from './access.ts';
export {
  type CollectionPermissions,
  type Default,
  type Grants,
  type LevelInput,
  levelOn,
  permissionsOf,
  type SpaceNeed,
  type SpacePermissions,
} from './levels.ts';
export { type VisibleSpaces, visibleTo } from './visible.ts';
