/** Somebody's way to an instance. */
export interface Api {
  readonly token: string;
}

/** What came of a request: an answer, or none. */
export interface Outcome {
  /** 0: the connection failed or was cut. */
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter: string | null;
  readonly ms: number;
}

/** Longest wait for an answer in ms: longer than any that the instance promises. */
const timeoutMs = 40_000;

/** One request; never throws. */
export const call = async (
  { token }: Api,
  url: string,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> => {
  const startedAt = performance.now();
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, body, retryAfter, ms: performance.now() - startedAt };
  } catch (error) {
    return {
      status: 0,
      body: `${String(error)}: ${String(Object(error).cause ?? '')}`,
      retryAfter: null,
      ms: performance.now() - startedAt,
    };
  }
};

/** The body of a request that must succeed. @throws Error with the answer */
export const must = async <T>(api: Api, url: string, method: string, path: string, body?: unknown): Promise<T> => {
  const outcome = await call(api, url, method, path, body === undefined ? {} : { body });
  if (outcome.status === 0 || outcome.status >= 300)
    throw new Error(`${method} ${path}: ${JSON.stringify(outcome).slice(0, 500)}`);
  // The caller names the shape that the contract gives to this answer.
  return outcome.body as T;
};

/** Waits until `look` answers something. @throws Error after `seconds` */
export const eventually = async <T>(what: string, look: () => Promise<T | undefined>, seconds = 60): Promise<T> => {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
