import { AppendTooLarge, EventStoreUnavailable } from '../../port.ts';

/**
 * What a failed call means for whoever made it.
 * - `retry`: the server could not be reached, did not answer, is not ready, or is no leader. A write may have happened.
 * - `denied`: the credentials do not suffice; an operator must act.
 * - `too-large`: the server takes no append of this size.
 * - `deleted`: somebody ended the stream for ever, by hand.
 * - `refused`: anything else that trying again will not change.
 */
export type FailureKind = 'retry' | 'denied' | 'too-large' | 'deleted' | 'refused';

export interface Failure {
  readonly kind: FailureKind;
  /** Always says something: errors of the client may have an empty message (PITFALLS 11). */
  readonly message: string;
}

/** A call got no answer within its time. */
export class CallTimedOut extends Error {
  readonly type = 'deadline-exceeded';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The server said that it wrote what is not there (PITFALLS 7). */
export class FalseSuccess extends Error {
  readonly type = 'unknown';
  constructor(stream: string, revision: number) {
    super(`the server reports events at revision ${revision} of ${stream}, and they are not there`);
  }
}

/** The server ended a subscription without an error (PITFALLS 2). */
export class SubscriptionEnded extends Error {
  readonly type = 'ended';
  constructor(message = 'the server ended the subscription') {
    super(message);
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const fieldOf = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? (Reflect.get(error, name) as unknown) : undefined;

/** The server names its own errors in a trailer of the call. */
const exceptionOf = (error: unknown): string | undefined => {
  const get: unknown = fieldOf(fieldOf(error, 'metadata'), 'get');
  if (typeof get !== 'function') return undefined;
  const values: unknown = Reflect.apply(get, fieldOf(error, 'metadata'), ['exception']);
  return Array.isArray(values) ? text(values[0]) : undefined;
};

const BY_NAME: Readonly<Record<string, FailureKind>> = {
  'not-leader': 'retry',
  timeout: 'retry',
  'deadline-exceeded': 'retry',
  unavailable: 'retry',
  cancelled: 'retry',
  ended: 'retry',
  unknown: 'retry',
  'access-denied': 'denied',
  'maximum-append-size-exceeded': 'too-large',
  'maximum-append-event-size-exceeded': 'too-large',
  'stream-deleted': 'deleted',
};

/** By gRPC status: 1 cancelled, 2 unknown, 4 deadline, 8 exhausted, 10 aborted, 13 internal, 14 unavailable, 15 data loss. */
const BY_CODE: Readonly<Record<number, FailureKind>> = {
  1: 'retry',
  2: 'retry',
  4: 'retry',
  7: 'denied',
  8: 'retry',
  10: 'retry',
  13: 'retry',
  14: 'retry',
  16: 'denied',
};

/** A message that is larger than the server receives; without it "exhausted" means that it is too busy. */
const TOO_LARGE_TEXT = /message (exceeds the maximum|larger than)/iu;

/** Failures without a code: those of discovering a cluster, and of streams that are torn down. */
const RETRY_TEXT = /discover|not ready|too busy|leader|write after end|premature close|ECONN|socket|GOAWAY/iu;

/**
 * The one place that tells errors of the client apart, by the server's own name for them, the client's type, the gRPC
 * status and last by text (PITFALLS 11).
 */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof EventStoreUnavailable) {
    const kind = error.cause === undefined ? 'retry' : failureOf(error.cause).kind;
    return { kind, message: error.message };
  }
  const details = text(fieldOf(error, 'details')) ?? text(fieldOf(error, 'message')) ?? String(error);
  const name = exceptionOf(error) ?? text(fieldOf(error, 'type'));
  const code = fieldOf(error, 'code');
  const kind =
    (code === 8 && TOO_LARGE_TEXT.test(details) ? 'too-large' : undefined) ??
    (name === undefined ? undefined : BY_NAME[name]) ??
    (typeof code === 'number' ? BY_CODE[code] : undefined) ??
    (RETRY_TEXT.test(details) ? 'retry' : 'refused');
  return { kind, message: `${details}${name !== undefined && !details.includes(name) ? ` (${name})` : ''}` };
};

/** Whether an error says no more than that time was up; what went wrong before it says more. */
export const isLate = (error: unknown): boolean => error instanceof CallTimedOut || fieldOf(error, 'code') === 4;

/** What is done by reading $all. */
const ALL_TEXT = /\blog\b/u;

/** A failure as the port knows it. */
export const portErrorOf = (doing: string, error: unknown): Error => {
  if (error instanceof EventStoreUnavailable) return error;
  const { kind, message } = failureOf(error);
  if (kind === 'too-large')
    return new AppendTooLarge(`${doing}: larger than the server accepts (its MaxAppendSize): ${message}`, {
      cause: error,
    });
  if (kind === 'denied' && ALL_TEXT.test(doing)) {
    const hint = 'its user must be allowed to read $all, by default only administrators are';
    return new EventStoreUnavailable(`${doing}: ${message}; ${hint}`, { cause: error });
  }
  if (kind === 'deleted') return new Error(`${doing}: the stream was ended for ever: ${message}`, { cause: error });
  return new EventStoreUnavailable(`${doing}: ${message}`, { cause: error });
};
