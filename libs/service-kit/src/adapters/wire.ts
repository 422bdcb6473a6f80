import { Problem, type ProblemKind } from '../errors.ts';
import type { Principal } from '../principal.ts';

/** Path prefix of calls between services. */
export const callPath = '/internal/operations/';

/** A call as it travels: plain JSON. */
export interface WireCall {
  readonly context: {
    readonly principal: Principal;
    readonly requestId: string;
    readonly now: string;
    /** The callee derives its ids from this, so that a repeat with the same seed makes the same ids. */
    readonly idSeed: string;
    readonly baseUrl: string;
    /** Time that is left, in ms; a duration, since clocks differ (PITFALLS 40). */
    readonly withinMs: number;
  };
  readonly request: {
    readonly params: unknown;
    readonly query: unknown;
    readonly body?: unknown;
    readonly ifMatch?: string;
  };
}

export interface WireProblem {
  readonly kind: ProblemKind;
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An answer or a failure, as it travels. */
export type WireResult = { readonly answer: unknown } | { readonly problem: WireProblem };

export const toWire = ({ kind, code, message, retryAfter, details }: Problem): WireProblem => ({
  kind,
  code,
  message,
  details,
  ...(retryAfter !== undefined && { retryAfter }),
});

export const fromWire = ({ kind, code, message, retryAfter, details }: WireProblem): Problem =>
  new Problem(kind, code, message, { details, ...(retryAfter !== undefined && { retryAfter }) });
