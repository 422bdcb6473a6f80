import type { GitSyncState, MergeRulesSpaceConfiguration, Space, translationLanguages } from '@bindery/contracts';
import type { SpacePermissions } from '../access/index.ts';
import type { SpaceDocument } from '../space-model/index.ts';
import type { SpaceCounts } from './counts.ts';

type Language = (typeof translationLanguages)[number];

/** Address of a space in the API; also its `Location`. */
export const spaceLocation = (baseUrl: string, spaceId: string): string => `${baseUrl}/v1/spaces/${spaceId}`;

/**
 * A space as clients see it (resources section 4). `emoji` is required there: a space that never had one shows the empty
 * string. Nothing is published yet, so that there are no `published` and `public` addresses.
 */
export const presentSpace = (
  baseUrl: string,
  space: SpaceDocument,
  counts: SpaceCounts,
  permissions: SpacePermissions,
  gitSync?: GitSyncState,
): Space => ({
  object: 'space',
  id: space.id,
  title: space.title,
  emoji: space.emoji ?? '',
  visibility: space.visibility,
  createdAt: space.createdAt,
  updatedAt: space.updatedAt,
  ...(space.deletedAt === undefined ? {} : { deletedAt: space.deletedAt }),
  ...(space.editMode === undefined ? {} : { editMode: space.editMode }),
  // Stored as the contract's validator let them in.
  mergeRules: space.mergeRules as unknown as MergeRulesSpaceConfiguration,
  urls: {
    location: spaceLocation(baseUrl, space.id),
    app: `${baseUrl}/app/spaces/${space.id}`,
    ...(space.icon === undefined ? {} : { icon: space.icon }),
  },
  organization: space.organizationId,
  ...(space.parent === undefined ? {} : { parent: space.parent }),
  ...(space.language === undefined ? {} : { language: space.language as Language }),
  revision: space.revision,
  defaultLevel: space.defaultLevel,
  comments: counts.comments,
  changeRequests: space.changeRequests,
  changeRequestsOpen: counts.open,
  changeRequestsDraft: counts.draft,
  permissions: { ...permissions },
  ...(gitSync === undefined ? {} : { gitSync }),
});
