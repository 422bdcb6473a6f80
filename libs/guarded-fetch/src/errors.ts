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
  /** Of `bad-status`: what was answered. */
  readonly status?: number;
  constructor(reason: FetchFailureReason, message: string, options?: ErrorOptions & { readonly status?: number }) {
    super(message, options);
    this.reason = reason;
    if (options?.status !== undefined) this.status = options.status;
  }
}

/** True for a `FetchFailed` of any copy of this package. */
export const isFetchFailed = (error: unknown): error is FetchFailed =>
  error instanceof Error && (error as Partial<FetchFailed>).code === 'guarded_fetch.failed';
