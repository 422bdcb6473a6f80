import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

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

/** Resident set size of a process in bytes. */
export const residentBytes = (pid: number | undefined): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
};
