import { Problem } from './errors.ts';

/** 503: the work did not finish in time; its outcome is unknown. */
const problem = (): Problem =>
  new Problem('unavailable', 'deadline.exceeded', 'The request was not finished in time.', { retryAfter: 1 });

export const deadlineExceeded = {
  problem,
  /** Why the work that a signal belongs to is given up. */
  reasonOf: (signal: AbortSignal): unknown => reasonOf(signal),
  /**
   * The result of the work, or a `Problem` as soon as the signal aborts. A signal that aborted with a `Problem` as its
   * reason passes it on.
   */
  race<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => reject(reasonOf(signal));
      const end = (): void => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      work().then(
        (result) => {
          end();
          resolve(result);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  },
};

const reasonOf = (signal: AbortSignal): unknown => (signal.reason instanceof Problem ? signal.reason : problem());
