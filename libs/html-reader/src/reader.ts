import { Worker } from 'node:worker_threads';
import type { HtmlReading, HtmlSource } from './types.ts';

export interface HtmlReaderOptions {
  /** For one page, in ms, the start of a thread included. Default 15,000. */
  readonly timeoutMs?: number;
  /** Pages read at a time; more wait. Default 1. */
  readonly threads?: number;
  /** Memory of one thread for JavaScript objects, in MiB. Default 256. */
  readonly memoryMb?: number;
  /** A thread without work ends after so many ms. Default 30,000. */
  readonly idleMs?: number;
}

/** Reads pages of strangers beside the main thread, with bounds on time and memory. */
export interface HtmlReader {
  /**
   * @param source its bytes are taken over: not to be used afterwards
   * @throws what the signal was aborted with; Error when the reader is closed or broken
   */
  read(source: HtmlSource, signal?: AbortSignal): Promise<HtmlReading>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  idle?: NodeJS.Timeout;
}

const refused = (reason: 'time' | 'memory', message: string): HtmlReading => ({ ok: false, reason, message });

export const createHtmlReader = (options: HtmlReaderOptions = {}): HtmlReader => {
  const { timeoutMs = 15_000, threads = 1, memoryMb = 256, idleMs = 30_000 } = options;
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

  const run = (source: HtmlSource, signal: AbortSignal): Promise<HtmlReading> =>
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
        () => end(() => resolve(refused('time', `The page took longer than ${timeoutMs} ms to read.`))),
        timeoutMs,
      );
      signal.addEventListener('abort', onAbort, { once: true });
      worker.once('message', (reading: HtmlReading) => end(() => resolve(reading), true));
      worker.once('error', (error: Error & { readonly code?: string }) =>
        end(() =>
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? resolve(refused('memory', 'The page takes more memory to read than there is for it.'))
            : reject(error),
        ),
      );
      worker.once('exit', () => end(() => reject(new Error('the thread that reads pages ended'))));
      const bytes = source.bytes.byteLength === source.bytes.buffer.byteLength ? source.bytes : source.bytes.slice();
      worker.postMessage({ ...source, bytes }, [bytes.buffer]);
    });

  return {
    async read(source, signal) {
      const both = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      if (busy >= threads) await new Promise<void>((resolve) => waiting.push(resolve));
      else busy += 1;
      try {
        return await run(source, both);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else busy -= 1;
      }
    },
    async close() {
      closing.abort(new Error('the reader of pages is closed'));
      const idle = free.splice(0);
      for (const thread of idle) clearTimeout(thread.idle);
      await Promise.all(idle.map(({ worker }) => worker.terminate()));
    },
  };
};
