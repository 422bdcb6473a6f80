import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';

/** A request with a body or headers of its own. Redirects of a POST are followed only where they keep the method (307, 308). */
export interface FetchRequest {
  readonly method: 'GET' | 'POST';
  /** Lower-case names. `authorization` is sent to the origin of the first URL alone, never after a redirect elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** One request and the head of its answer. */
export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly message: IncomingMessage;
  /** Drops the connection. */
  close(): void;
}

/** Longest answer head that is read, in bytes. */
const maxHeaderSize = 16 * 1024;

/**
 * Sends one request to an address. The name goes only into `Host` and, for TLS, into the server name that the certificate
 * must match; it is not resolved again.
 */
export const connectOnce = (target: {
  readonly url: URL;
  readonly address: string;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  readonly request: FetchRequest;
}): Promise<Exchange> =>
  new Promise((resolve, reject) => {
    const { url, address, userAgent, signal } = target;
    const { method, headers, body } = target.request;
    const secure = url.protocol === 'https:';
    const name = url.hostname.replace(/^\[|\]$/g, '');
    const request = (secure ? requestHttps : requestHttp)({
      host: address,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method,
      agent: false,
      maxHeaderSize,
      signal,
      headers: {
        accept: '*/*',
        'user-agent': userAgent,
        ...headers,
        host: url.host,
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-length': body.byteLength }),
      },
      ...(secure && isIP(name) === 0 ? { servername: name } : {}),
    });
    request.on('error', reject);
    request.on('response', (message) =>
      resolve({
        status: message.statusCode ?? 0,
        headers: message.headers,
        message,
        close: () => message.destroy(),
      }),
    );
    request.end(body);
  });
