import { Worker } from 'node:worker_threads';
import type { PdfRequest } from './types.ts';

export interface PdfWriterOptions {
  /** For one file, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Files written at a time; more wait. Default 1. */
  readonly threads?: number;
  /** Files that wait at most. Default 20. */
  readonly waiting?: number;
  /** Memory of one thread for JavaScript objects, in MiB. Default 512. */
  readonly memoryMb?: number;
}

/** There is no file: too many wait, or it took too much time or memory. */
export class PdfFailed extends Error {
  readonly reason: 'busy' | 'time' | 'memory';
  constructor(reason: 'busy' | 'time' | 'memory') {
    super(`no PDF file could be made: ${reason}`);
    this.reason = reason;
  }
}

/** Writes PDF files beside the main thread. */
export interface PdfWriter {
  /** @throws PdfFailed, what the signal was aborted with, Error when rendering broke */
  write(request: PdfRequest, signal: AbortSignal): Promise<Uint8Array>;
}

export const createPdfWriter = (options: PdfWriterOptions = {}): PdfWriter => {
  const { timeoutMs = 60_000, threads = 1, waiting: maxWaiting = 20, memoryMb = 512 } = options;
  const waiting: (() => void)[] = [];
  let busy = 0;

  const run = (request: PdfRequest, signal: AbortSignal): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      });
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        worker.removeAllListeners();
        // Its end says nothing more, whatever it is.
        worker.on('error', () => undefined);
        worker.terminate().then(settle, settle);
      };
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => reject(new PdfFailed('time'))), timeoutMs);
      signal.addEventListener('abort', onAbort, { once: true });
      worker.once('message', (answer: { ok: true; bytes: Uint8Array } | { ok: false; message: string }) =>
        end(() => (answer.ok ? resolve(answer.bytes) : reject(new Error(answer.message)))),
      );
      worker.once('error', (error: Error & { readonly code?: string }) =>
        end(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new PdfFailed('memory') : error)),
      );
      worker.once('exit', () => end(() => reject(new Error('the thread that writes PDF files ended'))));
      worker.postMessage(request);
    });

  return {
    async write(request, signal) {
      if (busy >= threads) {
        if (waiting.length >= maxWaiting) throw new PdfFailed('busy');
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else busy += 1;
      try {
        return await run(request, signal);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else busy -= 1;
      }
    },
  };
};
