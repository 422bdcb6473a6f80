import type { AnswerOf, BodyOf, OperationDefinition, ParamsOf, QueryOf } from '@bindery/contracts';
import type { ParkedWork } from './parked-work.ts';
import type { Principal } from './principal.ts';

/**
 * Makes ids (at least 20 characters of [A-Za-z0-9], never all digits; DESIGN section 8) and event ids (UUIDs). With an
 * `Idempotency-Key` both are derived from it, so that a repeated request makes the same ids and a retry after a crash
 * finds its own events instead of writing them twice (PITFALLS 9).
 */
export interface IdSource {
  id(): string;
  eventId(): string;
}

/** What every handler knows about the request. Plain data plus `ids` and `signal`. */
export interface OperationContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** W3C trace context of the calling span, when tracing is on. */
  readonly traceparent?: string;
  /** The time of this request, from the injected clock. */
  readonly now: Date;
  readonly ids: IdSource;
  /** Aborts when the caller is gone or the deadline passed. */
  readonly signal: AbortSignal;
  /**
   * When time is up, in ms of this process's monotonic clock (`performance.now()`); absent: nobody set a time. What is left of
   * it is what a service that is called for this request is given (PITFALLS 48).
   */
  readonly deadlineAt?: number;
  /** Public address of the instance without a trailing slash, for `urls`. */
  readonly baseUrl: string;
}

/** A validated request: parameters, coerced query with defaults, body. */
export interface OperationRequest<D extends OperationDefinition> {
  readonly params: ParamsOf<D>;
  readonly query: QueryOf<D>;
  readonly body: BodyOf<D>;
  /** From `If-Match`: the version that the caller saw, without quotes; `*` = any. */
  readonly ifMatch?: string;
}

/** What a handler answers. The gateway adds headers, hydrates embedded resources and serialises. */
export type OperationAnswer<D extends OperationDefinition> = AnswerOf<D> & {
  /** Version of the resource without quotes, where the operation declares `etag`. */
  readonly etag?: string;
  /** Absolute URL, where the operation declares `location`. */
  readonly location?: string;
};

export type OperationHandler<D extends OperationDefinition> = (
  context: OperationContext,
  request: OperationRequest<D>,
) => Promise<OperationAnswer<D>>;

/** The handlers of a service for a set of operations, complete by type: a declared operation without a handler does not compile. */
export type HandlersFor<O extends Readonly<Record<string, OperationDefinition>>> = {
  readonly [K in keyof O]: OperationHandler<O[K]>;
};

/** The same map with its types erased, for routing. */
export type AnyHandler = (
  context: OperationContext,
  request: { readonly params: unknown; readonly query: unknown; readonly body: unknown; readonly ifMatch?: string },
) => Promise<{ readonly status: number; readonly body?: unknown; readonly etag?: string; readonly location?: string }>;
export type HandlerMap = Readonly<Record<string, AnyHandler>>;

/**
 * Forgets the types of handlers, for routing. Safe because whoever calls one by its operation id has checked the request
 * against that operation's schemas.
 */
export const eraseHandlers = (handlers: object): HandlerMap => handlers as HandlerMap;

/** Calls operations of services, in-process or over HTTP (DESIGN section 3). */
export interface ServiceClient {
  call<D extends OperationDefinition>(
    operation: D,
    context: OperationContext,
    request: OperationRequest<D>,
  ): Promise<OperationAnswer<D>>;
}

/** A service as its composition root sees it. */
export interface Service {
  readonly name: string;
  readonly handlers: HandlerMap;
  /** Starts runners, publishers and reactors; resolves when it can serve. */
  start(): Promise<void>;
  /** Finishes what it began, then stops. Idempotent. */
  stop(): Promise<void>;
  /** Empty when it can serve; otherwise what is missing. */
  notReady(): readonly string[];
  status(): Promise<ServiceStatus>;
  /** Rebuilds projections (all, or those named) beside the live ones and switches. */
  rebuild(projections?: readonly string[]): Promise<{ readonly events: number; readonly durationMs: number }>;
  /** What waits because it could not be handled; absent where nothing can. */
  readonly parked?: ParkedWork;
}

/** Figures of `GET /admin/v1/status` for one service. */
export interface ServiceStatus {
  readonly service: string;
  readonly events: number;
  readonly projections: readonly {
    readonly name: string;
    readonly position: number;
    readonly head: number;
    readonly lag: number;
    readonly oldestMs: number;
    readonly state: 'live' | 'catching-up' | 'rebuilding' | 'failed';
    readonly error?: string;
  }[];
  /** Process managers; `parked`: streams whose event cannot be handled at the moment, tried again from time to time. */
  readonly reactors?: readonly {
    readonly name: string;
    readonly position: number;
    readonly head: number;
    readonly lag: number;
    readonly oldestMs: number;
    readonly state: 'live' | 'catching-up' | 'failed';
    readonly error?: string;
    readonly parked: readonly { readonly stream: string; readonly reason: string; readonly since: string }[];
  }[];
  readonly publisher?: {
    readonly topic: string;
    readonly position: number;
    readonly head: number;
    readonly lag: number;
    readonly oldestMs: number;
    readonly state: 'live' | 'catching-up' | 'failed';
    readonly error?: string;
  };
}
