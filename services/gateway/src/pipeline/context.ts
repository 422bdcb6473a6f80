import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import {
  createIdSource,
  deadlineExceeded,
  type IdSource,
  type OperationContext,
  type Principal,
  servicePrincipal,
} from '@bindery/service-kit';

const gatewayItself = servicePrincipal('gateway');
const randomIds = createIdSource();

/** What belongs to one request: identity, deadline and whether the caller is still there. */
export class RequestScope {
  readonly requestId: string;
  readonly now: Date;
  readonly baseUrl: string;
  traceparent: string | undefined;
  readonly #deadlineAt: number;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(
    response: ServerResponse,
    facts: { readonly requestId: string; readonly now: Date; readonly baseUrl: string; readonly deadlineMs: number },
  ) {
    this.requestId = facts.requestId;
    this.now = facts.now;
    this.baseUrl = facts.baseUrl;
    this.#deadlineAt = performance.now() + facts.deadlineMs;
    // Who waited for a place may have no time left.
    const leftMs = Math.max(1, facts.deadlineMs);
    this.#timer = setTimeout(() => this.#controller.abort(deadlineExceeded.problem()), leftMs);
    const gone = (): void => {
      clearTimeout(this.#timer);
      if (!response.writableFinished) this.#controller.abort();
    };
    // One that is gone already does not say so again.
    if (response.destroyed) gone();
    else response.once('close', gone);
  }

  /** Aborts at the deadline, or when the caller is gone before the answer was written. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The context in which an operation runs for a principal. */
  context(principal: Principal, ids: IdSource = randomIds): OperationContext {
    return {
      principal,
      requestId: this.requestId,
      now: this.now,
      ids,
      signal: this.signal,
      deadlineAt: this.#deadlineAt,
      baseUrl: this.baseUrl,
      ...(this.traceparent !== undefined && { traceparent: this.traceparent }),
    };
  }

  /** The context of calls that the gateway makes for itself. */
  internal(): OperationContext {
    return this.context(gatewayItself);
  }
}

/**
 * The address of the caller.
 * @param hops proxies in front that each append the address they saw to `X-Forwarded-For`
 */
export function callerAddress(request: IncomingMessage, hops: number): string {
  const direct = request.socket.remoteAddress ?? 'unknown';
  const header = request.headers['x-forwarded-for'];
  if (hops === 0 || header === undefined) return direct;
  const chain = [header].flat().join(',').split(',');
  return plainAddress(chain.at(-hops)?.trim() ?? '') ?? direct;
}

/** An address without the port that some proxies append; undefined for what is none. */
const plainAddress = (text: string): string | undefined => {
  if (isIP(text) !== 0) return text;
  const [, v6, v4] = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9.]{7,15}))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = v6 ?? v4 ?? '';
  return isIP(address) === 0 ? undefined : address;
};
