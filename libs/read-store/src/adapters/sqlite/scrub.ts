import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ReadStoreUnavailable } from '../../port.ts';

/** What the thread is told. */
export interface ScrubRequest {
  readonly path: string;
  /** How long it waits for others that are in its way, in ms. */
  readonly busyTimeoutMs: number;
}

/** What it answers. */
export interface ScrubOutcome {
  readonly failure?: string;
}

/**
 * Rewrites a database file without what was removed from it. Reads go on meanwhile, of what is there; nothing may be written.
 * @throws ReadStoreUnavailable
 */
export const scrubFile = async (request: ScrubRequest): Promise<void> => {
  const worker = new Worker(fileURLToPath(new URL('./scrub-worker.ts', import.meta.url)), {
    workerData: request,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  // An `error` of the thread rejects this; one that ends without an answer is said to have.
  const ended = once(worker, 'exit').then((): [ScrubOutcome] => [{ failure: 'the thread ended' }]);
  const [outcome]: ScrubOutcome[] = await Promise.race([once(worker, 'message'), ended]);
  await ended;
  if (outcome?.failure !== undefined)
    throw new ReadStoreUnavailable(`the read store cannot be rewritten now: ${outcome.failure}`);
};
