/** Why a fetch was refused or failed. */
export type FetchFailureReason =
  | 'invalid-url'
  | 'blocked'
  | 'unreachable'
  | 'bad-status'
  | 'too-many-redirects'
  | 'too-large'
  | 'timeout';

/** The fetch did not give what was asked for. `message` is safe to show to whoever gave the URL: it names no address. */
export class FetchFailed extends Error {
  readonly code = 'guarded_fetch.failed';
  readonly reason: FetchFailureReason;
  constructor(reason: FetchFailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** True for a `FetchFailed` of any copy of this package. */
export const isFetchFailed = (error: unknown): error is FetchFailed =>
  error instanceof Error && (error as Partial<FetchFailed>).code === 'guarded_fetch.failed';
