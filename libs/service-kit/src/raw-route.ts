import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a raw route knows about its request. */
export interface RawRouteContext {
  readonly requestId: string;
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The part after `?`, undecoded. */
  readonly query: string;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  readonly now: Date;
  /** Public address of the instance without a trailing slash. */
  readonly baseUrl: string;
  /** Of the caller, also behind the proxies that the gateway trusts. */
  readonly address: string;
  /** In whose share of the places the request counts; absent: in nobody's. */
  readonly caller?: string;
}

/**
 * A route that is not an operation, for example a signed download; its method and path stand in the contract (`rawRoutes`).
 * It answers by itself; what it throws or rejects with becomes the same error envelope as everywhere.
 */
export interface RawRoute {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** With `{name}` parameters and an optional trailing `{name*}`. Outside `/v1` and `/admin/v1`. */
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse, context: RawRouteContext): Promise<void>;
}
