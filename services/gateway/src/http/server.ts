import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { limits } from '@bindery/contracts';
import type { Metrics } from '@bindery/telemetry';
import type { GatewayConfig } from '../config.ts';
import { expectsContinue } from './body.ts';
import { limitConnections } from './connections.ts';
import { corsHeaders } from './cors.ts';
import { errorBody } from './errors.ts';
import { requestIdOf } from './request-id.ts';
import { answeredEarly, send } from './send.ts';

/** Larger than the longest target that is read, so that one that is too long can be told from too many headers. */
const maxHeaderBytes = 32 * 1024;

export interface GatewayServer {
  /** Starts to listen. @returns the port */
  listen(): Promise<number>;
  /** Goes on to serve, and asks every caller that it hears from to connect anew, which then leads elsewhere. */
  drain(): void;
  /** Stops to accept, finishes what is in flight within the time, closes the rest. Idempotent. */
  close(withinMs: number): Promise<void>;
}

/** The listening part: timeouts, answers to what never becomes a request, and an orderly end (PITFALLS 45). */
export function createGatewayServer(
  handler: RequestListener,
  config: Pick<
    GatewayConfig,
    'host' | 'port' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'connections'
  >,
  metrics: Metrics,
): GatewayServer {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: config.headersTimeoutMs,
    requestTimeout: config.requestTimeoutMs,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, config.headersTimeoutMs),
    noDelay: true,
    // The listener refuses requests without one, with the usual body.
    requireHostHeader: false,
    // A request without a body is no stream that has to be read to its end: a sixth of what a GET costs here.
    optimizeEmptyRequests: true,
  });
  if (config.connections !== undefined) limitConnections(server, config.connections, metrics);
  let leaving = false;
  let closing: Promise<void> | undefined;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.socket.destroyed) return; // the rest of what came in one piece on a connection that was closed
    if (leaving) response.setHeader('connection', 'close');
    handler(request, response);
  };
  server.on('request', serve);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectsContinue(request);
    serve(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(errorBody(417, 'Expect: only 100-continue can be expected.'));
    if (leaving) response.setHeader('connection', 'close');
    send(request, response, 417, {}, body, requestIdOf(request.headers['x-request-id']));
  });
  server.on('clientError', answerUnreadable);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    writeRaw(socket, 405, 'CONNECT is not possible here.'),
  );

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.port, config.host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : config.port);
        });
      }),
    drain() {
      leaving = true;
    },
    close(withinMs) {
      leaving = true;
      closing ??= closeWithin(server, withinMs);
      return closing;
    },
  };
}

function closeWithin(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), withinMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Answers bytes that are no request, or none in time. The connection ends. */
function answerUnreadable(error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || answeredEarly.has(socket)) {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const line = error.rawPacket?.indexOf('\r\n') ?? 0;
    if (line < 0 || line > limits.requestTarget.maxLength) writeRaw(socket, 414, 'The address is too long.');
    else writeRaw(socket, 431, 'The headers are too large.');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') writeRaw(socket, 408, 'The request did not arrive in time.');
  else writeRaw(socket, 400, 'This is not a valid HTTP request.');
}

/** How long a caller that is sent away has to take the answer and to close, in ms. */
const lingerMs = 1000;

function writeRaw(socket: Duplex, status: number, message: string): void {
  const body = JSON.stringify(errorBody(status, message));
  const headers = Object.entries({
    ...corsHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestIdOf(undefined),
    connection: 'close',
  });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // The other side may be gone already; then there is nobody to tell.
  socket.on('error', () => socket.destroy());
  // Whoever does not close would hold the connection, and what handles a request on it, for ever.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${head}\r\n${body}`);
}
