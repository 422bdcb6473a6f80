import { Problem, type ProblemKind } from '../errors.ts';
import type { Principal } from '../principal.ts';

/** Path prefix of calls between services. */
export const callPath = '/internal/operations/';

/** Path prefix of raw routes: the target that the caller asked for follows. */
export const rawPath = '/internal/raw';

/** Path prefix of what the gateway asks as administrator. */
export const adminPath = '/internal/admin/';

/** Carries the shared secret of the instance's services. */
export const serviceTokenHeader = 'x-bindery-service-token';

/** On calls of operations: time that is left for the answer, in whole ms; a duration, since clocks differ (PITFALLS 40). */
export const withinHeader = 'x-bindery-within-ms';

/** On calls for somebody from outside: whose share of the service's places they count in. */
export const callerHeader = 'x-bindery-caller';

/** On answers of a replica that did not begin, with the reason (it is ending, has another token, or no place for this caller): another one may be asked. */
export const notHandledHeader = 'x-bindery-not-handled';

/** On raw requests: what the gateway knows about them. */
export const rawContextHeader = 'x-bindery-raw-context';

/** On answers to raw requests that failed before anything was sent: base64url of a {@link WireProblem}. */
export const rawProblemHeader = 'x-bindery-problem';

/** What the gateway knows about a raw request, as it travels: base64url of this JSON. */
export interface WireRawContext {
  readonly route: string;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly now: string;
  readonly baseUrl: string;
  readonly address: string;
}

/** Time that a call has when nobody says how much, in ms. */
export const usualWithinMs = 30_000;

/** A call as it travels: plain JSON. */
export interface WireCall {
  readonly context: {
    readonly principal: Principal;
    readonly requestId: string;
    readonly now: string;
    /** The callee derives its ids from this, so that a repeat with the same seed makes the same ids. */
    readonly idSeed: string;
    readonly baseUrl: string;
    /**
     * The same as {@link withinHeader}, for replicas of the release before that header: they read it here, and answer nothing
     * without it. Goes one release after it.
     */
    readonly withinMs: number;
  };
  readonly request: {
    readonly params: unknown;
    readonly query: unknown;
    readonly body?: unknown;
    readonly ifMatch?: string;
  };
}

const principals = new WeakMap<Principal, string>();

/** A gateway's principal is the same object for as long as its token is remembered, and the longest part of a call: written once. */
const textOf = (principal: Principal): string => {
  const known = principals.get(principal);
  if (known !== undefined) return known;
  const text = JSON.stringify(principal);
  principals.set(principal, text);
  return text;
};

const beginning = '{"context":{';

/** A call as text. */
export const callText = ({ context: { principal, ...context }, request }: WireCall): string =>
  `${beginning}"principal":${textOf(principal)},${JSON.stringify({ context, request }).slice(beginning.length)}`;

export interface WireProblem {
  readonly kind: ProblemKind;
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * An answer or a failure, as it travels. Beside its body an answer has only text and the status, also in later releases: gateways
 * find the end of a body by that.
 */
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
