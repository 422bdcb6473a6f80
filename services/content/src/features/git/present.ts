import type { GitSyncState } from '@bindery/contracts';
import type { GitSyncDocument } from './read-model.ts';

/** How a space stands with its repository, as clients see it (resources section 0). */
export const presentGitSync = ({
  spaceId,
  request,
  state,
  endedAt,
  error,
  updatedAt,
}: GitSyncDocument): GitSyncState => ({
  repoName: request.repoName,
  // The reference knows installations of providers' applications; here the caller brings the address itself.
  installationStatus: 'active',
  installationProvider: request.provider,
  installationId: spaceId,
  url: request.url,
  operation: {
    state,
    direction: request.direction,
    startedAt: request.startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(error === undefined ? {} : { error }),
  },
  operationTimeout: Math.round((Date.parse(request.timeoutAt) - Date.parse(request.startedAt)) / 1000),
  updatedAt,
});
