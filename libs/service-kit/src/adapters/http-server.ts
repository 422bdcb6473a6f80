import type { IncomingMessage } from 'node:http';
import type { Logger, Span, Tracer } from '@bindery/telemetry';
import { asProblem } from '../as-problem.ts';
import { deadlineExceeded } from '../deadline.ts';
import { Problem } from '../errors.ts';
import { createIdSource } from '../ids.ts';
import { noHandler } from '../in-process-client.ts';
import type { AnyHandler, HandlerMap, OperationContext } from '../operation.ts';
import type { CallEnd } from './call-end.ts';
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
 * @returns answers one call; never rejects. The call is ended by whoever asks when its caller goes away, and here when time is up.
 */
export function createOperationServer({ handlers, logger, tracer }: OperationServerOptions) {
  const answerOf = async (
    { context: known, request }: WireCall,
    handler: AnyHandler,
    deadlineAt: number,
    span: Span,
    end: CallEnd,
  ): Promise<WireResult> => {
    const context: OperationContext = {
      principal: known.principal,
      requestId: known.requestId,
      now: new Date(known.now),
      ids: createIdSource(known.idSeed),
      baseUrl: known.baseUrl,
      signal: end.signal,
      deadlineAt,
      ...(span.traceparent !== undefined && { traceparent: span.traceparent }),
    };
    const { params, query, body, ifMatch } = request;
    const given = { params, query, body, ...(ifMatch !== undefined && { ifMatch }) };
    try {
      const answer = await end.race(() => handler(context, given));
      span.set('bindery.status', answer.status);
      return { answer };
    } catch (error) {
      const problem = asProblem(error, context.requestId);
      if (isOurs(problem)) throw error;
      // What the caller got wrong is an answer like any other.
      span.set('bindery.problem', problem.code);
      return { problem: toWire(problem) };
    }
  };

  return async (id: string, request: IncomingMessage, end: CallEnd): Promise<WireResult> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      const handler = Object.hasOwn(handlers, id) ? handlers[id] : undefined;
      if (!handler) throw noHandler(id);
      const { headers } = request;
      const withinMs = Math.min(Math.max(1, Number(headers[withinHeader]) || usualWithinMs), maxWithinMs);
      timer = setTimeout(() => end.abort(deadlineExceeded.problem()), withinMs);
      const deadlineAt = performance.now() + withinMs;
      const call: WireCall = Object(await readJson(request, maxBytes, end));
      const parent = typeof headers.traceparent === 'string' ? headers.traceparent : undefined;
      const attributes = {
        'http.request.method': 'POST',
        'http.route': `${callPath}{operation}`,
        'bindery.operation': id,
      };
      return await tracer.span(id, { kind: 'server', parent, attributes }, (span) =>
        answerOf(call, handler, deadlineAt, span, end),
      );
    } catch (error) {
      const problem = asProblem(error, String(request.headers['x-request-id'] ?? 'unknown'));
      if (problem.kind === 'internal') {
        logger.error('internal call failed', { error: problem.cause ?? problem, operation: id });
      }
      return { problem: toWire(problem) };
    } finally {
      clearTimeout(timer);
    }
  };
}

/** A failure of this side, which makes the span one that failed. */
const isOurs = ({ kind }: Problem): boolean => kind === 'internal' || kind === 'unavailable';

/**
 * Reads a body.
 * @param end ends the wait for what is still to come
 * @throws Problem `too-large`, `deadline.exceeded`; SyntaxError, and whatever broke the request off
 */
export function readJson(request: IncomingMessage, atMost: number, end: Pick<CallEnd, 'race'>): Promise<unknown> {
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
      request.on('end', () => {
        try {
          resolve(room === atMost ? undefined : JSON.parse(textOf(chunks)));
        } catch (error) {
          reject(error);
        }
      });
      request.on('error', reject);
    });
  return end.race(read).catch((error: unknown) => {
    // What still comes is not kept.
    chunks.length = 0;
    room = -1;
    throw error;
  });
}

/** Most come in one piece, which need not be copied. */
const textOf = (chunks: readonly Buffer[]): string =>
  (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString();
