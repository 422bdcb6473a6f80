import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { invalid, isProblem, Problem } from '@bindery/service-kit';

const inflaters = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

const tooLarge = (limit: number): Problem =>
  new Problem('too-large', 'body.too_large', `body: must have at most ${limit} bytes, inflated ones counted`);

/** Callers that wait for permission to send; given when their headers are found good. */
const waiting = new WeakSet<IncomingMessage>();
/** Marks a request with `Expect: 100-continue`. */
export const expectsContinue = (request: IncomingMessage): void => {
  waiting.add(request);
};

/** Whether a body follows the headers. */
export const hasBody = (request: IncomingMessage): boolean => {
  if (request.headers['transfer-encoding'] !== undefined) return true;
  const length = request.headers['content-length'];
  return length !== undefined && length !== '0';
};

/**
 * Reads a body, inflating it. Never holds more than `limit` bytes of it, compressed or not (PITFALLS 56).
 * @param signal ends the wait for what is still to come, with its reason if that is a problem
 * @throws Problem 413, 415 (unknown encoding), 400 (damaged)
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (Number(request.headers['content-length']) > limit) throw tooLarge(limit);
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const inflater = Object.hasOwn(inflaters, encoding) ? inflaters[encoding as keyof typeof inflaters] : undefined;
  if (!inflater && encoding !== 'identity') {
    throw new Problem(
      'unsupported-media-type',
      'body.encoding',
      'Content-Encoding: must be gzip, deflate, br or identity',
    );
  }
  if (waiting.delete(request)) response.writeContinue();
  const raw = await collect(request, limit, signal);
  if (!inflater) return raw;
  try {
    return await inflater(raw, { maxOutputLength: limit });
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw invalid('body.damaged', `body: is not valid ${encoding} data`);
  }
}

/** The caller went away while sending; nobody is there to read an answer. */
export class CallerGone extends Error {}

function collect(request: IncomingMessage, limit: number, signal: AbortSignal | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('error', onGone);
      request.off('close', onGone);
      signal?.removeEventListener('abort', onAbort);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) {
        stop();
        request.pause();
        reject(tooLarge(limit));
      } else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const onGone = (): void => {
      stop();
      reject(new CallerGone('the caller closed the connection while sending'));
    };
    const onAbort = (): void => {
      const reason: unknown = signal?.reason;
      stop();
      request.pause();
      reject(isProblem(reason) ? reason : new CallerGone('the caller closed the connection while sending'));
    };
    if (signal?.aborted === true) {
      onAbort();
      return;
    }
    // Where the headers say that there is none it does not say that it ended.
    if (request.readableEnded) {
      resolve(Buffer.alloc(0));
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onGone);
    request.on('close', onGone);
  });
}

const jsonType = /^application\/(?:[\w.!#$&^-]+\+)?json$/;

/**
 * Refuses bodies that are not JSON in UTF-8.
 * @throws Problem 415
 */
export function requireJson(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (jsonType.test(type.trim()) && utf8) return;
  throw new Problem('unsupported-media-type', 'body.type', 'Content-Type: must be application/json in UTF-8');
}

/**
 * Parses JSON.
 * @throws Problem 400 with the position of the mistake
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalid('body.encoding', 'body: is not valid UTF-8');
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw invalid('body.malformed', `body: is not valid JSON${positionOf(error, text)}`);
  }
}

function positionOf(error: unknown, text: string): string {
  const found = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  if (found === undefined) return ' (it ends too early)';
  const before = text.slice(0, Number(found));
  const line = before.split('\n').length;
  return ` (line ${line}, column ${before.length - before.lastIndexOf('\n')})`;
}
