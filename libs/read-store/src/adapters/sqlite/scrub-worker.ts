/** Rewrites a database file on a thread of its own, so that the process goes on serving. Started by `scrub.ts`. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ScrubOutcome, ScrubRequest } from './scrub.ts';

const { path, busyTimeoutMs }: ScrubRequest = workerData;

const rewrite = (): ScrubOutcome => {
  const connection = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    connection.exec('PRAGMA temp_store=MEMORY; VACUUM');
    // The file still has the old pages until what was written to the log is in it; the log is then cut to nothing.
    const { busy } = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    return busy === 0 ? {} : { failure: 'another process reads what is to be removed' };
  } finally {
    connection.close();
  }
};

const attempt = (): ScrubOutcome => {
  try {
    return rewrite();
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.postMessage(attempt());
