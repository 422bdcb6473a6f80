/** Why a sync with a repository failed, for whoever started it. */
export type GitSyncFailureReason =
  | 'unreachable'
  | 'refused'
  | 'not-found'
  | 'no-branch'
  | 'too-large'
  | 'too-many'
  | 'unusable'
  | 'file'
  | 'rejected'
  /** Somebody else's commit came first. */
  | 'behind'
  /** Changed there and not imported. */
  | 'unimported'
  /** The space keeps changing. */
  | 'busy';

/** A sync that cannot be done. `message` is safe to show: it has no address of a network and no credentials. */
export class GitSyncFailed extends Error {
  readonly code = 'git_sync.failed';
  readonly reason: GitSyncFailureReason;
  constructor(reason: GitSyncFailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** True for a `GitSyncFailed` of any copy of this package. */
export const isGitSyncFailed = (error: unknown): error is GitSyncFailed =>
  error instanceof Error && (error as Partial<GitSyncFailed>).code === 'git_sync.failed';

/** The failure of one file of a repository. */
export const fileFailed = (path: string, what: string): GitSyncFailed =>
  new GitSyncFailed('file', `${path}: ${what}`.slice(0, 1000));
