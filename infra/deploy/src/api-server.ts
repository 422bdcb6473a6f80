import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** What the API server said. */
export interface Answer {
  readonly status: number;
  /** The object that was asked for or changed, or a `Status` that says why not. */
  readonly body: unknown;
  /** What `kubectl` would print as a warning. */
  readonly warnings: readonly string[];
}

/** A call of the API. @param body sent as JSON; for PATCH as a server-side apply */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** An API server of Kubernetes on this machine, with nothing in it. */
export interface ApiServer {
  readonly ask: Ask;
  /** Of Kubernetes, e.g. `v1.37.2`. */
  readonly version: string;
  /** Ends it and waits for its end. */
  stop(): Promise<void>;
}

const callTimeoutMs = 30_000;
const startTimeoutMs = 180_000;
const stopTimeoutMs = 30_000;
/** Characters of its log that are kept. */
const maxLog = 4000;

/** The texts of `Warning` headers (RFC 7234, 5.5), of which the API server uses code 299 alone. */
export const warningsIn = (headers: readonly string[]): readonly string[] =>
  headers.flatMap((header) =>
    [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1')),
  );

interface Access {
  readonly url: string;
  readonly token: string;
  readonly certificate: string;
  readonly version: string;
}

const clientOf = ({ url, token, certificate }: Access): { readonly ask: Ask; close(): void } => {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(certificate) });
  const ask: Ask = async (method, path, body) => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const sent = request(new URL(path, url), {
      agent,
      method,
      signal: AbortSignal.timeout(callTimeoutMs),
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(content === undefined
          ? {}
          : {
              'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
              // Said, since for a DELETE nothing else would frame it.
              'content-length': Buffer.byteLength(content),
            }),
      },
    });
    sent.end(content);
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    const isJson = String(response.headers['content-type']).includes('json');
    return {
      status: response.statusCode,
      body: isJson ? JSON.parse(text) : text,
      warnings: warningsIn(response.headersDistinct.warning ?? []),
    };
  };
  return { ask, close: () => agent.destroy() };
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.stdin?.end();
  const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await closed;
  clearTimeout(late);
};

/** Tries until it works, or the time is over, or the process has ended. */
const until = async (child: ChildProcess, work: () => Promise<boolean>, what: () => string): Promise<void> => {
  const last = Date.now() + startTimeoutMs;
  for (;;) {
    if (child.exitCode !== null || Date.now() > last) throw new Error(what());
    // Refused while it is not listening yet.
    if (await work().catch(() => false)) return;
    await pause(200);
  }
};

/**
 * Starts an API server.
 * @param program what {@link ./tools.ts} builds from infra/deploy/apiserver
 * @param folder for what it keeps; made here, and removed by whoever calls
 * @param flags more flags of kube-apiserver, e.g. `--emulated-version=1.34`
 * @throws Error when it is not ready within 3 minutes, with the end of its log
 */
export const startApiServer = async (
  program: string,
  folder: string,
  flags: readonly string[] = [],
): Promise<ApiServer> => {
  mkdirSync(folder);
  const child = spawn(program, [folder, ...flags], { stdio: ['pipe', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-maxLog);
  });
  const failed = (): string => `the API server did not start:\n${log}`;
  try {
    const line = new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => reject(new Error(failed())));
      createInterface({ input: child.stdout }).once('line', resolve);
    });
    const access: Access = JSON.parse(await line);
    const { ask, close } = clientOf(access);
    await until(child, async () => (await ask('GET', '/readyz')).status === 200, failed);
    const stop = async (): Promise<void> => {
      close();
      await end(child);
    };
    return { ask, version: access.version, stop };
  } catch (error) {
    await end(child);
    throw error;
  }
};
