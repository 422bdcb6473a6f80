export {
  type Access,
  type AccessDeps,
  createAccess,
  type GrantSource,
  maxGrantedSpaces,
  noGrants,
  type SpaceAccess,
  type VisibleSpaces,
} from './access.ts';
export {
  type Default,
  type Grants,
  type LevelInput,
  levelOn,
  permissionsOf,
  type SpaceNeed,
  type SpacePermissions,
} from './levels.ts';
