import { Agent } from 'undici';
import { deadlineExceeded } from '../deadline.ts';
import { isProblem, Problem } from '../errors.ts';
import type { OperationContext, ServiceClient } from '../operation.ts';
import { callPath, fromWire, type WireCall, type WireResult } from './wire.ts';

export interface HttpClientOptions {
  /** Address of the service without a trailing slash, for example `http://content:8080`. */
  readonly url: string;
  /** Shared secret of the instance's services. */
  readonly token: string;
  /** Longest wait for an answer in ms. Default 30_000. */
  readonly timeoutMs?: number;
  /** Connections kept open. Default 64. */
  readonly connections?: number;
}

export interface HttpServiceClient extends ServiceClient {
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
const connectTimeoutMs = 2_000;

/** Calls operations of a service in another process (DESIGN section 3). Failures come back as the same `Problem`. */
export function createHttpClient(options: HttpClientOptions): HttpServiceClient {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const agent = new Agent({
    connections: options.connections ?? 64,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const origin = new URL(options.url).origin;

  const call = async (
    { id }: { readonly id: string },
    context: OperationContext,
    request: WireCall['request'],
  ): Promise<unknown> => {
    if (context.signal.aborted) throw deadlineExceeded.problem();
    const wire: WireCall = {
      context: {
        principal: context.principal,
        requestId: context.requestId,
        now: context.now.toISOString(),
        idSeed: context.ids.id(),
        baseUrl: context.baseUrl,
        withinMs: timeoutMs,
      },
      request,
    };
    const body = JSON.stringify(wire);
    try {
      const response = await agent.request({
        origin,
        path: `${callPath}${encodeURIComponent(id)}`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${options.token}`,
          'content-type': 'application/json',
          'x-request-id': context.requestId,
          ...(context.traceparent && { traceparent: context.traceparent }),
        },
        body,
        signal: AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]),
      });
      return resultOf(await response.body.json());
    } catch (error) {
      if (isProblem(error)) throw error;
      if (context.signal.aborted || isTimeout(error)) throw deadlineExceeded.problem();
      throw new Problem('unavailable', 'service.unavailable', 'A service cannot be reached at the moment.', {
        retryAfter: 1,
        cause: error,
      });
    }
  };
  // The service answers what the operation declares: the handlers of its other end are typed by the same contract.
  const client = { call } as unknown as ServiceClient;
  return { call: client.call, close: () => agent.close() };
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || error.name === 'HeadersTimeoutError' || error.name === 'BodyTimeoutError');

function resultOf(result: unknown): unknown {
  if (typeof result === 'object' && result !== null) {
    const wire = result as WireResult;
    if ('answer' in wire) return wire.answer;
    if ('problem' in wire) throw fromWire(wire.problem);
  }
  throw new Error('the answer of the service is not understood');
}
