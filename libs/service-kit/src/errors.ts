/** What went wrong, for callers and for the one file that maps kinds to HTTP codes (services/gateway/src/http/errors.ts). */
export type ProblemKind =
  | 'invalid' // 400
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'not-found' // 404
  | 'method-not-allowed' // 405
  | 'conflict' // 409
  | 'precondition' // 412
  | 'too-large' // 413
  | 'uri-too-long' // 414
  | 'unsupported-media-type' // 415
  | 'rate-limited' // 429
  | 'internal' // 500
  | 'unavailable'; // 503

/**
 * A failure that a caller may be told about. `code` is stable (`change_request.not_open`), `message` is for people: what
 * was wrong, which field, what is allowed. Recognised by `isProblem`, not `instanceof`, since it may cross a package or process.
 */
export class Problem extends Error {
  readonly problem = true;
  readonly kind: ProblemKind;
  readonly code: string;
  /** Seconds, for `rate-limited` and `unavailable`. */
  readonly retryAfter: number | undefined;
  /** Safe facts for logs; never secrets or personal data. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(
    kind: ProblemKind,
    code: string,
    message: string,
    options: {
      readonly retryAfter?: number;
      readonly details?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.details = options.details ?? {};
  }
}

/** True for a `Problem` of any copy of this package. */
export const isProblem = (error: unknown): error is Problem =>
  error instanceof Error &&
  (error as Partial<Problem>).problem === true &&
  typeof (error as Partial<Problem>).kind === 'string';

/** 400: the input breaks a rule that the schema cannot say. Name the field. */
export const invalid = (code: string, message: string, details?: Readonly<Record<string, unknown>>): Problem =>
  new Problem('invalid', code, message, details ? { details } : {});
/** 403: the caller may see it but not do this. @param details `organizationId`: in whose audit the refusal stands, where the address does not say */
export const forbidden = (code: string, message: string, details?: Readonly<Record<string, unknown>>): Problem =>
  new Problem('forbidden', code, message, details ? { details } : {});
/** 404: it does not exist, or the caller may not know that it does; the two are told apart by nothing. */
export const notFound = (resource: string): Problem =>
  new Problem('not-found', `${resource.replaceAll(' ', '_')}.not_found`, `No such ${resource}.`);
/** 409: it does not fit what is there. */
export const conflict = (code: string, message: string, details?: Readonly<Record<string, unknown>>): Problem =>
  new Problem('conflict', code, message, details ? { details } : {});
/** 412: `If-Match` names another version. */
export const preconditionFailed = (message: string): Problem =>
  new Problem('precondition', 'precondition.failed', message);
