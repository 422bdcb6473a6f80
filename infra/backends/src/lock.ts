import { readFile, rm, writeFile } from 'node:fs/promises';
import { identityOf, isRunning } from './processes.ts';
import { waitUntil } from './wait.ts';

/** Longer than the slowest first start, with its downloads and builds, in ms. */
const PATIENCE_MS = 1_800_000;

const holderIsGone = async (file: string): Promise<boolean> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text === '') return false;
  return !isRunning(JSON.parse(text));
};

const take = async (file: string): Promise<boolean> => {
  try {
    await writeFile(file, JSON.stringify(identityOf(process.pid)), { flag: 'wx' });
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if (await holderIsGone(file)) await rm(file, { force: true });
    return false;
  }
};

/** Does something while no other process does it under the same lock file. A holder that has died holds nothing. */
export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  await waitUntil(() => take(file), { what: `the lock ${file}`, deadlineMs: PATIENCE_MS });
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
};
