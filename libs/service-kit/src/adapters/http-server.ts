import type { IncomingMessage } from 'node:http';
import type { Logger, Tracer } from '@bindery/telemetry';
import { asProblem } from '../as-problem.ts';
import { deadlineExceeded } from '../deadline.ts';
import { Problem } from '../errors.ts';
import { createIdSource } from '../ids.ts';
import { noHandler } from '../in-process-client.ts';
import type { AnyHandler, HandlerMap, OperationContext } from '../operation.ts';
import { callPath, toWire, usualWithinMs, type WireCall, type WireResult, withinHeader } from './wire.ts';

export interface OperationServerOptions {
  readonly handlers: HandlerMap;
  readonly logger: Logger;
  readonly tracer: Tracer;
}

/** Largest call in bytes: a body that the gateway lets through, and what stands around it. */
const maxBytes = 32 * 1024 * 1024;
const maxWithinMs = 600_000;

/**
 * Answers calls of operations by the handlers of a service. Not for the outside: it believes the principal it is given.
 * @returns answers one call; never rejects. The controller is aborted when the caller goes away, and here when time is up.
 */
export function createOperationServer({ handlers, logger, tracer }: OperationServerOptions) {
  const run = async (id: string, request: IncomingMessage, gone: AbortController): Promise<WireResult> => {
    const handler = Object.hasOwn(handlers, id) ? handlers[id] : undefined;
    if (!handler) throw noHandler(id);
    const withinMs = Math.min(Math.max(1, Number(request.headers[withinHeader]) || usualWithinMs), maxWithinMs);
    const timer = setTimeout(() => gone.abort(deadlineExceeded.problem()), withinMs);
    try {
      return await answerWithin(performance.now() + withinMs, id, handler, request, gone.signal);
    } finally {
      clearTimeout(timer);
    }
  };

  const answerWithin = async (
    deadlineAt: number,
    id: string,
    handler: AnyHandler,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<WireResult> => {
    const call: WireCall = Object(await readJson(request, maxBytes, signal));
    const traceparent = request.headers.traceparent;
    return tracer.span(
      id,
      {
        kind: 'server',
        parent: typeof traceparent === 'string' ? traceparent : undefined,
        attributes: { 'http.request.method': 'POST', 'http.route': `${callPath}{operation}`, 'bindery.operation': id },
      },
      async (span) => {
        const context: OperationContext = {
          principal: call.context.principal,
          requestId: call.context.requestId,
          now: new Date(call.context.now),
          ids: createIdSource(call.context.idSeed),
          baseUrl: call.context.baseUrl,
          signal,
          deadlineAt,
          ...(span.traceparent !== undefined && { traceparent: span.traceparent }),
        };
        const { params, query, body, ifMatch } = call.request;
        const given = { params, query, body, ...(ifMatch !== undefined && { ifMatch }) };
        try {
          const answer = await deadlineExceeded.race(signal, () => handler(context, given));
          span.set('bindery.status', answer.status);
          return { answer };
        } catch (error) {
          const problem = asProblem(error, context.requestId);
          if (isOurs(problem)) throw error;
          // What the caller got wrong is an answer like any other.
          span.set('bindery.problem', problem.code);
          return { problem: toWire(problem) };
        }
      },
    );
  };

  return async (id: string, request: IncomingMessage, gone: AbortController): Promise<WireResult> => {
    try {
      return await run(id, request, gone);
    } catch (error) {
      const problem = asProblem(error, String(request.headers['x-request-id'] ?? 'unknown'));
      if (problem.kind === 'internal') {
        logger.error('internal call failed', { error: problem.cause ?? problem, operation: id });
      }
      return { problem: toWire(problem) };
    }
  };
}

/** A failure of this side, which makes the span one that failed. */
const isOurs = ({ kind }: Problem): boolean => kind === 'internal' || kind === 'unavailable';

/**
 * Reads a body.
 * @param signal ends the wait for what is still to come
 * @throws Problem `too-large`, `deadline.exceeded`; SyntaxError, and whatever broke the request off
 */
export function readJson(request: IncomingMessage, atMost: number, signal: AbortSignal): Promise<unknown> {
  const chunks: Buffer[] = [];
  let room = atMost;
  const read = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      request.on('data', (chunk: Buffer) => {
        room -= chunk.length;
        if (room >= 0) chunks.push(chunk);
        else {
          // The rest is read and let go, so that the answer arrives.
          chunks.length = 0;
          reject(new Problem('too-large', 'internal.too_large', `A call has at most ${atMost} bytes.`));
        }
      });
      request.once('end', () => {
        try {
          resolve(room === atMost ? undefined : JSON.parse(Buffer.concat(chunks).toString()));
        } catch (error) {
          reject(error);
        }
      });
      request.once('error', reject);
    });
  return deadlineExceeded.race(signal, read).catch((error: unknown) => {
    // What still comes is not kept.
    chunks.length = 0;
    room = -1;
    throw error;
  });
}
