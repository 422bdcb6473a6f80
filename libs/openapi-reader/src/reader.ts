import { Worker } from 'node:worker_threads';
import { defaultBounds } from './read.ts';
import type { ReadBounds, Reading } from './types.ts';

export interface SpecificationReaderOptions {
  /** For one document, in ms, the start of a thread included. Default 20,000. */
  readonly timeoutMs?: number;
  /** Documents read at a time; more wait. Default 2. */
  readonly threads?: number;
  /** Memory of one thread for JavaScript objects, in MiB. Default 512. */
  readonly memoryMb?: number;
  /** A thread without work ends after so many ms. Default 30,000. */
  readonly idleMs?: number;
  readonly bounds?: ReadBounds;
}

/** Reads documents of strangers beside the main thread, with bounds on time and memory. */
export interface SpecificationReader {
  /**
   * @param bytes are taken over: not to be used afterwards
   * @throws what the signal was aborted with; Error when the reader is closed or broken
   */
  read(bytes: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Reading>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  idle?: NodeJS.Timeout;
}

const refused = (code: 'time' | 'memory', message: string): Reading => ({ ok: false, errors: [{ code, message }] });

export const createSpecificationReader = (options: SpecificationReaderOptions = {}): SpecificationReader => {
  const { timeoutMs = 20_000, threads = 2, memoryMb = 512, idleMs = 30_000, bounds = defaultBounds } = options;
  const closing = new AbortController();
  const free: Thread[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;

  const open = (): Thread => ({
    worker: new Worker(new URL('./worker.ts', import.meta.url), {
      // Nothing of the process is of use to it.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    }),
  });
  const rest = (thread: Thread): void => {
    thread.worker.removeAllListeners();
    // A thread that dies of itself while nobody waits for it is replaced by the next open.
    const forget = () => {
      clearTimeout(thread.idle);
      const at = free.indexOf(thread);
      if (at >= 0) free.splice(at, 1);
    };
    thread.worker.once('error', forget).once('exit', forget);
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      forget();
      void thread.worker.terminate();
    }, idleMs);
    thread.idle.unref();
    free.push(thread);
  };
  const take = (): Thread => {
    const thread = free.pop() ?? open();
    clearTimeout(thread.idle);
    thread.worker.removeAllListeners();
    thread.worker.ref();
    return thread;
  };

  const run = (bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Reading> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const thread = take();
      const { worker } = thread;
      const end = (settle: () => void, keep = false): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        worker.removeAllListeners();
        if (keep) {
          rest(thread);
          settle();
          return;
        }
        // Its end says nothing more, whatever it is.
        worker.on('error', () => undefined);
        worker.terminate().then(settle, settle);
      };
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(
        () => end(() => resolve(refused('time', `The document took longer than ${timeoutMs} ms to read.`))),
        timeoutMs,
      );
      signal.addEventListener('abort', onAbort, { once: true });
      worker.once('message', (reading: Reading) => end(() => resolve(reading), true));
      worker.once('error', (error: Error & { readonly code?: string }) =>
        end(() =>
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? resolve(refused('memory', 'The document takes more memory to read than there is for it.'))
            : reject(error),
        ),
      );
      worker.once('exit', () => end(() => reject(new Error('the thread that reads specifications ended'))));
      const copy = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      worker.postMessage({ bytes: copy, bounds }, [copy.buffer]);
    });

  return {
    async read(bytes, signal) {
      const both = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      if (busy >= threads) await new Promise<void>((resolve) => waiting.push(resolve));
      else busy += 1;
      try {
        return await run(bytes, both);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else busy -= 1;
      }
    },
    async close() {
      closing.abort(new Error('the reader of specifications is closed'));
      const idle = free.splice(0);
      for (const thread of idle) clearTimeout(thread.idle);
      await Promise.all(idle.map(({ worker }) => worker.terminate()));
    },
  };
};
