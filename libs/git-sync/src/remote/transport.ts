import { type GuardedFetch, isFetchFailed } from '@bindery/guarded-fetch';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitSyncFailed } from '../errors.ts';

/** A name and a secret for a repository. They are in memory only. */
export interface GitCredentials {
  readonly username: string;
  readonly password: string;
}

export interface TransportOptions {
  readonly fetch: GuardedFetch;
  readonly credentials?: GitCredentials;
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** For one exchange, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const discovery = '/info/refs?service=';

/** A failure in words for whoever gave the address. */
const explained = (error: unknown): unknown => {
  if (!isFetchFailed(error)) return error;
  if (error.status === 401 || error.status === 403)
    return new GitSyncFailed(
      'refused',
      `The repository refused access (status ${error.status}): credentials are missing, wrong or not enough.`,
      { cause: error },
    );
  if (error.status === 404 || error.status === 410)
    return new GitSyncFailed('not-found', 'The repository was not found.', { cause: error });
  return new GitSyncFailed(error.reason === 'too-large' ? 'too-large' : 'unreachable', error.message, { cause: error });
};

/** Once is all that an answer is read. */
async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const joined = async (body: GitHttpRequest['body']): Promise<Uint8Array | undefined> => {
  if (body === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  // The library types it as asynchronous and gives a list, too.
  for await (const chunk of body as AsyncIterable<Uint8Array> | Iterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/**
 * How the git library talks to a repository: every exchange goes through the guarded fetch, so that no private address is
 * reached, also after redirects and whatever the name resolves to next time. As git does, it follows a redirect of the
 * discovery for what comes after it. Credentials go to the origin they were given for, and nowhere else.
 */
export const createTransport = (url: string, options: TransportOptions): HttpClient => {
  const { fetch, credentials, maxBytes, timeoutMs, signal } = options;
  const { origin } = new URL(url);
  const basic =
    credentials === undefined
      ? undefined
      : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  /** Where the repository is after redirects. */
  let base = url;

  return {
    async request(asked): Promise<GitHttpResponse> {
      const target = asked.url.startsWith(url) ? `${base}${asked.url.slice(url.length)}` : asked.url;
      const body = await joined(asked.body);
      const headers = Object.fromEntries(
        Object.entries(asked.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      );
      const authorization = basic !== undefined && new URL(target).origin === origin ? { authorization: basic } : {};
      const method = asked.method === 'POST' ? 'POST' : 'GET';
      try {
        const answer = await fetch(target, {
          maxBytes,
          timeoutMs,
          signal,
          request: { method, headers: { ...headers, ...authorization }, ...(body === undefined ? {} : { body }) },
        });
        // Whole, before the library sees any of it: it takes a stream that breaks off for one that ended.
        const chunks: Uint8Array[] = [];
        for await (const chunk of answer.body) chunks.push(chunk);
        const tail = answer.url.indexOf(discovery);
        if (method === 'GET' && tail > 0) base = answer.url.slice(0, tail);
        return {
          url: answer.url,
          method,
          statusCode: 200,
          statusMessage: 'OK',
          headers: { 'content-type': answer.contentType },
          body: once(Buffer.concat(chunks)),
        };
      } catch (error) {
        throw explained(error);
      }
    },
  };
};
