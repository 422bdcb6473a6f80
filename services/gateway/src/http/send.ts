import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './body.ts';
import { corsHeaders, exposedHeaders } from './cors.ts';

/** How long a caller that is still sending may go on after it was answered, and how much of that is read. */
const lingerMs = 1000;
const lingerBytes = 1024 * 1024;

/** Connections whose last request was answered before it had come in; nothing more may be written to them. */
export const answeredEarly = new WeakSet<object>();

const common = {
  ...corsHeaders,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/**
 * Writes an answer in one piece, with its length and the headers that every answer has.
 * @param body text, or undefined for none
 */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  requestId: string,
): void {
  const all: Record<string, string | number> = { ...common, 'x-request-id': requestId, ...headers };
  let length = 0;
  if (request.headers.origin !== undefined) Object.assign(all, exposedHeaders);
  if (body !== undefined) {
    all['content-type'] ??= 'application/json; charset=utf-8';
    length = Buffer.byteLength(body);
    all['content-length'] = length;
  } else if (status !== 204 && status !== 304) {
    all['content-length'] = 0;
  }
  const unread = !request.complete && hasBody(request);
  if (unread) {
    all.connection = 'close';
    answeredEarly.add(request.socket);
  }
  response.writeHead(status, all);
  const bytes = request.method === 'HEAD' ? undefined : body;
  if (unread) linger(request, response, bytes);
  // Text that is all ASCII need not be encoded.
  else response.end(bytes, length === bytes?.length ? 'latin1' : 'utf8');
}

/**
 * Answers a caller that is still sending. Closing at once would reset the connection and could destroy the answer on
 * its way, so a bounded rest is read first.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string | undefined): void {
  if (body !== undefined) response.write(body);
  else response.flushHeaders();
  let left = lingerBytes;
  const done = (): void => {
    clearTimeout(timer);
    request.removeAllListeners('data');
    if (!response.writableEnded) response.end();
  };
  const timer = setTimeout(done, lingerMs);
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) done();
  });
  request.once('end', done);
  request.once('close', done);
  request.resume();
}
