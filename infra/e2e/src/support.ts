import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';

/** Real documentation beside the project; a stranger's clone has none. */
export const elsaDocs = fileURLToPath(new URL('../../../../shared/data/elsa-docs', import.meta.url));
/** The project's own documentation. */
export const ownDocs = fileURLToPath(new URL('../../../docs', import.meta.url));

/** A test on the real documentation; says that it skips where there is none. */
export const testWithElsa = (...given: Parameters<typeof test>): void =>
  (existsSync(elsaDocs) ? test : test.skip)(...given);
if (!existsSync(elsaDocs)) process.stderr.write('skipped: the tests on elsa-docs need ../shared/data/elsa-docs\n');

export interface Target {
  readonly url: string;
  readonly token: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** A raw request; never throws for a refusal. */
export const request = async (
  target: Target,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>>; readonly raw?: string } = {},
): Promise<Answer> => {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(`${target.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = text === '' ? undefined : JSON.parse(text);
  } catch {
    parsed = text;
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
};

/** The same, insisting on success. */
export const ok = async <T>(target: Target, method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await request(target, method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer.body as T;
};
