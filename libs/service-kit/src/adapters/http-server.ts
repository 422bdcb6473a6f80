import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger, Tracer } from '@bindery/telemetry';
import { asProblem } from '../as-problem.ts';
import { deadlineExceeded } from '../deadline.ts';
import { Problem } from '../errors.ts';
import { createIdSource } from '../ids.ts';
import { noHandler } from '../in-process-client.ts';
import type { HandlerMap, OperationContext } from '../operation.ts';
import { callPath, toWire, type WireCall, type WireResult } from './wire.ts';

export interface OperationServerOptions {
  readonly handlers: HandlerMap;
  /** Shared secret of the instance's services. */
  readonly token: string;
  readonly logger: Logger;
  readonly tracer: Tracer;
  /** Largest call in bytes. Default 32 MiB. */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 32 * 1024 * 1024;
const maxWithinMs = 600_000;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Serves the handlers of a service to the other services. Not for the outside: it believes the principal it is given. */
export function createOperationListener(options: OperationServerOptions): RequestListener {
  const expected = digest(`Bearer ${options.token}`);
  const maxBytes = options.maxBytes ?? defaultMaxBytes;

  const run = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) {
      throw new Problem('unauthenticated', 'internal.token', 'Not one of our services.');
    }
    const path = request.url ?? '';
    if (request.method !== 'POST' || !path.startsWith(callPath)) {
      throw new Problem('not-found', 'internal.path', 'No such internal path.');
    }
    const id = path.slice(callPath.length);
    const handler = Object.hasOwn(options.handlers, id) ? options.handlers[id] : undefined;
    if (!handler) throw noHandler(id);
    const call = await readCall(request, maxBytes);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const withinMs = Math.min(Math.max(1, call.context.withinMs), maxWithinMs);
    const traceparent = request.headers.traceparent;
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(withinMs)]);
    return options.tracer.span(
      id,
      { kind: 'server', parent: typeof traceparent === 'string' ? traceparent : undefined },
      (span) => {
        const context: OperationContext = {
          principal: call.context.principal,
          requestId: call.context.requestId,
          now: new Date(call.context.now),
          ids: createIdSource(call.context.idSeed),
          baseUrl: call.context.baseUrl,
          signal,
          ...(span.traceparent !== undefined && { traceparent: span.traceparent }),
        };
        const { params, query, body, ifMatch } = call.request;
        const given = { params, query, body, ...(ifMatch !== undefined && { ifMatch }) };
        return deadlineExceeded.race(signal, () => handler(context, given));
      },
    );
  };

  return (request, response) => {
    run(request, response)
      .then(
        (answer): WireResult => ({ answer }),
        (error: unknown): WireResult => {
          const problem = asProblem(error, String(request.headers['x-request-id'] ?? 'unknown'));
          if (problem.kind === 'internal') {
            options.logger.error('internal call failed', { error: problem.cause ?? problem, path: request.url });
          }
          return { problem: toWire(problem) };
        },
      )
      .then((result) => {
        const bytes = Buffer.from(JSON.stringify(result));
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
        response.end(bytes);
      })
      .catch((error: unknown) => {
        options.logger.error('internal answer cannot be written', { error, path: request.url });
        response.destroy();
      });
  };
}

async function readCall(request: IncomingMessage, maxBytes: number): Promise<WireCall> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBytes) throw new Problem('too-large', 'internal.too_large', `A call has at most ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}
