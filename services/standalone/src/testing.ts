import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, type Settings } from './config.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

export const testToken = 'bnd_pat_0123456789012345678901234567890123456789';

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'bindery-standalone-'));

/** Settings of an instance for a test: any free port, quiet, nothing imported. */
export const settingsFor = (folder: string, more: Readonly<Record<string, string>> = {}): Settings =>
  readSettings({ DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error', IMPORT_DOCS: 'false', ...more });

/** A process of the product, with what it has written so far. */
export interface Spawned {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Resolves when the output matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/**
 * Starts `main.ts` as `npm start` does.
 * @param before code that runs in the process before it
 */
export const spawnMain = (env: Readonly<Record<string, string>>, before = ''): Spawned => {
  const first = before === '' ? [] : ['--import', `data:text/javascript,${encodeURIComponent(before)}`];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...first, main], {
    env: { PATH: process.env.PATH, PORT: '0', IMPORT_DOCS: 'false', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (const look of watchers) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return {
    child,
    output: () => output,
    errors: () => errors,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(output);
          if (found === null) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        void ended.then((how) => reject(new Error(`ended with ${String(how)} before ${pattern}: ${errors}`)));
        look();
      }),
  };
};

/** Calls an operation over HTTP. */
export const request = async (
  address: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }> => {
  const response = await fetch(address.replace('localhost', '127.0.0.1') + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      connection: 'close',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text), headers: response.headers };
};
