import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AllowEntry, mayConnect, parseAllowEntry } from './addresses.ts';
import { FetchFailed } from './errors.ts';
import { connectOnce, type Exchange, type FetchRequest } from './exchange.ts';
import { inflated } from './inflate.ts';

/** Limits of one fetch. */
export interface FetchLimits {
  /** Bytes of the answer after decompression; default 20 MiB. */
  readonly maxBytes?: number;
  /** For everything, redirects and the whole body included, in ms; default 15_000. */
  readonly timeoutMs?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  readonly signal?: AbortSignal;
  /** What is sent, where it is more than a plain GET. */
  readonly request?: FetchRequest;
}

/** An answer with status 2xx. The body must be read to its end or cancelled with `return()`. */
export interface Fetched {
  /** After redirects. */
  readonly url: string;
  /** `Content-Type` without parameters, lower case; empty when there is none. */
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Gets a URL that a stranger gave. @throws FetchFailed, also while the body is read */
export type GuardedFetch = (url: string, limits?: FetchLimits) => Promise<Fetched>;

export interface GuardedFetchOptions {
  /** Hosts, addresses and blocks that may be reached although they are not public (`BINDERY_FETCH_ALLOW`). */
  readonly allow?: readonly string[];
  /** All addresses of a name; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** `User-Agent`; default `Bindery`. */
  readonly userAgent?: string;
}

const defaults = { maxBytes: 20 * 1024 * 1024, timeoutMs: 15_000, maxRedirects: 5 };
/** A name with more addresses than this is not looked at further. */
const maxAddresses = 8;

const systemResolve = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true, verbatim: true })).map((entry) => entry.address);

const parse = (text: string, base?: string): URL => {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (url === undefined) throw new FetchFailed('invalid-url', 'The URL is not valid.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchFailed('invalid-url', 'Only http and https URLs are fetched.');
  if (url.username !== '' || url.password !== '')
    throw new FetchFailed('invalid-url', 'A URL with a user name or password is not fetched.');
  return url;
};

/** Rejects when `signal` aborts before `work` is done; for work that cannot be cancelled. */
const orAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/**
 * A fetch that cannot be led inside (PITFALLS 55): the URL is parsed, its name resolved once, every address checked as a
 * number, and the connection made to a checked address, never to the name. Redirects start over. Size counts inflated
 * bytes (PITFALLS 56), and one deadline covers everything. Proxies of the environment are not used.
 */
export const createGuardedFetch = (options: GuardedFetchOptions = {}): GuardedFetch => {
  const allow: readonly AllowEntry[] = (options.allow ?? []).map(parseAllowEntry);
  const resolve = options.resolve ?? systemResolve;
  const userAgent = options.userAgent ?? 'Bindery';

  const addressesOf = async (url: URL, signal: AbortSignal): Promise<readonly string[]> => {
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const trusted = allow.some((entry) => entry.kind === 'host' && entry.host === host);
    let addresses: readonly string[];
    try {
      addresses = isIP(host) ? [host] : (await orAbort(resolve(host), signal)).slice(0, maxAddresses);
    } catch (error) {
      if (signal.aborted) throw error;
      throw new FetchFailed('unreachable', `The host ${host} was not found.`, { cause: error });
    }
    if (addresses.length === 0) throw new FetchFailed('unreachable', `The host ${host} was not found.`);
    if (!trusted && !addresses.every((address) => mayConnect(address, allow)))
      throw new FetchFailed('blocked', `The host ${host} is not public.`);
    return addresses;
  };

  const exchange = async (url: URL, signal: AbortSignal, request: FetchRequest): Promise<Exchange> => {
    let failure: unknown;
    for (const address of await addressesOf(url, signal)) {
      try {
        return await connectOnce({ url, address, userAgent, signal, request });
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
      }
    }
    throw new FetchFailed('unreachable', `The host ${url.hostname} did not answer.`, { cause: failure });
  };

  return async (text, limits = {}) => {
    const { maxBytes, timeoutMs, maxRedirects } = { ...defaults, ...limits };
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = limits.signal ? AbortSignal.any([limits.signal, deadline]) : deadline;
    const explain = (error: unknown): unknown =>
      deadline.aborted
        ? new FetchFailed('timeout', `The fetch took longer than ${timeoutMs} ms.`, { cause: error })
        : error;
    try {
      let url = parse(text);
      const { origin } = url;
      const { request = { method: 'GET' } } = limits;
      const { authorization: _, ...others } = request.headers ?? {};
      for (let redirects = 0; ; redirects += 1) {
        const sent = url.origin === origin ? request : { ...request, headers: others };
        const answer = await exchange(url, signal, sent);
        const { location } = answer.headers;
        const keepsMethod = request.method === 'GET' || answer.status === 307 || answer.status === 308;
        if (answer.status >= 300 && answer.status < 400 && location !== undefined && keepsMethod) {
          answer.close();
          if (redirects === maxRedirects)
            throw new FetchFailed('too-many-redirects', `The URL redirects more than ${maxRedirects} times.`);
          url = parse(location, url.href);
          continue;
        }
        if (answer.status < 200 || answer.status >= 300) {
          answer.close();
          throw new FetchFailed('bad-status', `The URL answered with status ${answer.status}.`, {
            status: answer.status,
          });
        }
        const contentType = (answer.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
        return { url: url.href, contentType, body: inflated(answer, maxBytes, explain) };
      }
    } catch (error) {
      throw explain(error);
    }
  };
};
