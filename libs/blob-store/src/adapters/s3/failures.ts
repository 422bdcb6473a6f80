import { BlobStoreUnavailable } from '../../errors.ts';

/** What a failed request means: worth another attempt, or not. */
export type FailureKind = 'transient' | 'refused';

/** An answer of the store that is not a success. Its text holds the store's code, never an address or a credential. */
export class S3Refusal extends Error {
  readonly status: number;
  /** `<Code>` of the answer, for example `SlowDown`; the status where there is none. */
  readonly s3Code: string;
  constructor(status: number, s3Code: string) {
    super(`the store answered ${status} ${s3Code}`);
    this.name = 'S3Refusal';
    this.status = status;
    this.s3Code = s3Code;
  }
}

/** Refusals with a status of 4xx that another attempt may get past: bytes lost or changed on the way, or too slow. */
const transientCodes = new Set([
  'RequestTimeout',
  'BadDigest',
  'IncompleteBody',
  'XAmzContentSHA256Mismatch',
  'OperationAborted',
  'SlowDown',
  'TooManyRequests',
  'RequestTimeTooSkewed',
]);

/** The one place where failures are told apart. Everything but an answer is the network's: refused, reset, silent, late. */
export const kindOfFailure = (error: unknown): FailureKind => {
  if (error instanceof S3Refusal)
    return error.status >= 500 || error.status === 429 || transientCodes.has(error.s3Code) ? 'transient' : 'refused';
  return error instanceof TypeError || error instanceof RangeError ? 'refused' : 'transient';
};

/** Whether the store says that there is no such object, or no such upload (any more). */
export const isMissing = (error: unknown): boolean => error instanceof S3Refusal && error.status === 404;

/** A failure as the port's error. A store that refuses us needs its operator, but for callers it is away all the same. */
export const translated = (error: unknown): Error => {
  if (error instanceof BlobStoreUnavailable) return error;
  const reason = error instanceof Error ? error.message : 'unknown';
  return new BlobStoreUnavailable(`the blob store cannot be used now (${reason})`, { cause: error });
};
