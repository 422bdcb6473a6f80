import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../../services/standalone/src/main.ts', import.meta.url));

/** A port that nobody listens on at this moment. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });

export interface Running {
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Milliseconds from spawning the process until it answered that it is ready. */
  readonly readyMs: number;
  /** Resident set size in bytes. */
  memory(): number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Resolves when the process is gone. */
export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });

const answers = async (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

/** Starts a script and waits until `readyPath` answers. @throws Error with what it printed when it ends or is not ready in a minute */
export const startProcess = async (
  script: string,
  env: Readonly<Record<string, string>>,
  url: string,
  readyPath: string,
): Promise<{ child: ChildProcess; readyMs: number }> => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.length < 100 && errors.push(chunk.toString()));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}: ${errors.join('')}`);
    if (performance.now() - startedAt > 60_000)
      throw new Error(`${script} is not ready after 60 s: ${errors.join('')}`);
    if (await answers(`${url}${readyPath}`)) return { child, readyMs: performance.now() - startedAt };
    await wait(5);
  }
};

const residentBytes = (pid: number | undefined): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
};

/** Starts the product as a user would, on a data directory that is removed at the end unless it was given. */
export const startProduct = async (
  options: {
    readonly dataDir?: string;
    /** Leaves the data directory after `stop`, for the test to look at and remove. */
    readonly keep?: boolean;
    readonly token?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Running> => {
  const port = await freePort();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'bindery-bench-'));
  const token = options.token ?? `bnd_pat_${randomBytes(20).toString('hex')}`;
  const url = `http://127.0.0.1:${port}`;
  const { child, readyMs } = await startProcess(
    main,
    {
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      BINDERY_BOOTSTRAP_TOKEN: token,
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'error',
      IMPORT_DOCS: 'false',
      ...options.env,
    },
    url,
    '/readyz',
  );
  return {
    url,
    token,
    dataDir,
    process: child,
    readyMs,
    memory: () => residentBytes(child.pid),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended(child);
      if (options.dataDir === undefined && signal === 'SIGTERM' && options.keep !== true)
        rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
