import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const optional = Type.Optional;

/** Services that host repositories. */
export const gitProviders = ['github', 'gitlab', 'github-legacy'] as const;

/** How a space stands with its repository (resources section 0). */
export const GitSyncState = component(
  'GitSyncState',
  closed({
    repoName: optional(Type.String()),
    installationStatus: words(['unauthenticated', 'active', 'pending']),
    installationProvider: words(gitProviders),
    integration: optional(Type.String({ deprecated: true })),
    installationId: Type.String(),
    parentInstallationId: optional(Type.String()),
    url: optional(Type.String({ description: 'Of the repository, without credentials.' })),
    operation: optional(
      closed({
        state: words(['running', 'failure', 'success', 'timeout']),
        direction: words(['export', 'import']),
        startedAt: DateTime,
        endedAt: optional(DateTime),
        error: optional(Type.String()),
        errorAction: optional(closed({ label: Type.String(), url: Uri })),
      }),
    ),
    operationTimeout: optional(Type.Integer({ description: 'Seconds after which an operation is given up.' })),
    updatedAt: optional(DateTime),
  }),
);
export type GitSyncState = Static<typeof GitSyncState>;

/** The file of a repository that something was read from, or written to (resources section 0). */
export const GitSyncBlob = component(
  'GitSyncBlob',
  closed({ oid: Type.String(), path: Type.String({ description: 'From the root of the space in the repository.' }) }),
);
export type GitSyncBlob = Static<typeof GitSyncBlob>;

const repository = {
  url: Type.String({
    format: 'uri',
    maxLength: limits.url.maxLength,
    description: 'http or https; credentials in it are used for this operation and kept nowhere.',
  }),
  ref: Type.String({
    minLength: 1,
    maxLength: limits.git.ref,
    description: 'Branch, `refs/heads/main`.',
  }),
  repoTreeURL: optional(UrlInput),
  repoCommitURL: optional(UrlInput),
  repoProjectDirectory: optional(
    Type.String({ maxLength: limits.git.path, description: 'Folder of the project in the repository.' }),
  ),
  timestamp: optional(
    Type.String({ format: 'date-time', description: 'One older than the last that was applied is ignored.' }),
  ),
  force: optional(
    Type.Boolean({ description: 'Whatever the timestamp, and what the other side changed, is passed over.' }),
  ),
  standalone: optional(Type.Boolean({ description: 'Make a revision without touching the primary content.' })),
  repoCacheID: optional(Type.String({ maxLength: limits.git.path, deprecated: true })),
  gitInfo: optional(closed({ provider: optional(words(gitProviders)), url: optional(UrlInput) }, { deprecated: true })),
};

const common = {
  owner: 'content',
  surface: 'public',
  tag: 'Git sync',
  params: closed({ spaceId: Id() }),
} as const;
const sync = {
  ...common,
  method: 'POST',
  access: 'space:triggerGitSync',
  scope: 'space:write',
  success: { 204: null },
  errors: [409],
} as const;

/** Import from and export to git repositories (gaps-filled section 10). */
export const gitOperations = {
  importGitRepository: operation({
    ...sync,
    id: 'importGitRepository',
    path: '/spaces/{spaceId}/git/import',
    summary: 'Import a git repository into a space',
    description: 'Answers at once; getSpaceGitInfo tells how the operation stands. One operation of a space at a time.',
    body: closed(repository),
  }),
  exportToGitRepository: operation({
    ...sync,
    id: 'exportToGitRepository',
    path: '/spaces/{spaceId}/git/export',
    summary: 'Export a space to a git repository',
    description: 'Puts a commit on top of the branch, which is begun where it does not exist. As importGitRepository.',
    body: closed({ ...repository, commitMessage: Type.String({ minLength: 1, maxLength: limits.git.commitMessage }) }),
  }),
  getSpaceGitInfo: operation({
    ...common,
    id: 'getSpaceGitInfo',
    method: 'GET',
    path: '/spaces/{spaceId}/git/info',
    access: 'space:view',
    scope: 'space:read',
    summary: 'Get how a space stands with its git repository',
    success: { 200: GitSyncState },
  }),
};
