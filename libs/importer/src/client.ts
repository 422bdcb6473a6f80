import { setTimeout as wait } from 'node:timers/promises';

/** The API refused a request; `message` is the server's own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly request: string;
  constructor(status: number, request: string, message: string) {
    super(`${request}: ${status} ${message}`);
    this.status = status;
    this.request = request;
  }
}

/** The address does not answer. */
export class Unreachable extends Error {}

export interface ClientOptions {
  /** Address of the instance, with or without a trailing slash, without `/v1`. */
  readonly url: string;
  readonly token: string;
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, default 60_000: a batch of pages can take a while on a busy instance. */
  readonly timeoutMs?: number;
  /** Tries of one request, default 6; safe for POSTs because each carries an idempotency key. */
  readonly attempts?: number;
}

/** A minimal client of the public API that retries what is worth a retry. */
export interface ApiClient {
  get<T>(path: string): Promise<T>;
  /** @param key idempotency key: the same key and body answer the same, within 24 hours, even after a crash */
  post<T>(path: string, body: unknown, key: string): Promise<T>;
}

const worthARetry = new Set([408, 429, 502, 503, 504]);

/** Pause before try `attempt` + 1, in ms: what the server asks for, else doubling from 250 up to 10 s. */
const pauseOf = (attempt: number, retryAfter: string | null): number => {
  const seconds = Number(retryAfter);
  if (retryAfter !== null && Number.isFinite(seconds)) return Math.min(60, Math.max(0, seconds)) * 1000;
  return Math.min(10_000, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);
};

const messageOf = (text: string, fallback: string): string => {
  try {
    const parsed = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof parsed.error?.message === 'string' ? parsed.error.message : fallback;
  } catch {
    return fallback;
  }
};

/** @throws ApiError when refused, Unreachable when nothing answers after all tries */
export const createClient = (options: ClientOptions): ApiClient => {
  const base = `${options.url.replace(/\/+$/, '')}/v1`;
  const attempts = options.attempts ?? 6;

  const once = async (
    method: string,
    path: string,
    body: string | undefined,
    key: string | undefined,
  ): Promise<Response> => {
    const deadline = AbortSignal.timeout(options.timeoutMs ?? 60_000);
    return fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body }),
      signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
    });
  };

  const send = async <T>(method: string, path: string, body?: unknown, key?: string): Promise<T> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    let last: unknown;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      options.signal?.throwIfAborted();
      try {
        const response = await once(method, path, text, key);
        const answer = await response.text();
        if (response.ok) return (answer === '' ? undefined : JSON.parse(answer)) as T;
        const error = new ApiError(response.status, `${method} ${path}`, messageOf(answer, response.statusText));
        if (!worthARetry.has(response.status)) throw error;
        last = error;
        await wait(pauseOf(attempt, response.headers.get('retry-after')), undefined, { signal: options.signal });
      } catch (error) {
        if (error instanceof ApiError || options.signal?.aborted) throw error;
        last = error;
        await wait(pauseOf(attempt, null), undefined, { signal: options.signal });
      }
    }
    if (last instanceof ApiError) throw last;
    throw new Unreachable(`${options.url} does not answer (${last instanceof Error ? last.message : String(last)})`, {
      cause: last,
    });
  };

  return {
    get: (path) => send('GET', path),
    post: (path, body, key) => send('POST', path, body, key),
  };
};
