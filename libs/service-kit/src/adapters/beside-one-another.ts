import type { Dispatcher } from 'undici';
import { deadlineExceeded } from '../deadline.ts';

/** What came of asking one replica: its answer, or why another one may be asked. */
export type Tried = { readonly response: Dispatcher.ResponseData } | { readonly elsewhere: unknown };

export interface Asking<R> {
  /** Whom to ask, best first. At least one. */
  readonly candidates: readonly R[];
  /** Of the caller. */
  readonly signal: AbortSignal;
  /** After how long without an answer the next one is asked too, in ms. */
  readonly patienceMs: number;
  /** Asks one. A rejection ends the whole. */
  readonly ask: (candidate: R, signal: AbortSignal) => Promise<Tried>;
  /** Told who was too slow. @returns whether the next one may be asked beside it */
  readonly onSlow: (candidate: R) => boolean;
}

/**
 * Asks one after another, the next one as soon as the one before failed or was slow. The slow ones may still answer first; those
 * that do not are told that nobody waits any more. Only for what does no harm when it is done twice.
 */
export async function besideOneAnother<R>(asking: Asking<R>): Promise<Tried> {
  const { candidates, signal, patienceMs, ask, onSlow } = asking;
  const underWay = new Map<AbortController, Promise<{ readonly own: AbortController; readonly tried: Tried }>>();
  const answering = new Set<AbortController>();
  const onAbort = (): void => {
    for (const own of [...underWay.keys(), ...answering]) own.abort(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let last: Tried = { elsewhere: undefined };
  try {
    for (const [index, candidate] of candidates.entries()) {
      if (signal.aborted) throw deadlineExceeded.problem();
      const own = new AbortController();
      underWay.set(
        own,
        ask(candidate, own.signal).then((tried) => ({ own, tried })),
      );
      let patient = index === candidates.length - 1;
      do {
        const settled = await firstOf(underWay.values(), patient ? undefined : patienceMs);
        if (settled === undefined) {
          if (onSlow(candidate)) break;
          patient = true;
          continue;
        }
        underWay.delete(settled.own);
        last = settled.tried;
        if ('response' in last) {
          answering.add(settled.own);
          last.response.body.once('close', () => signal.removeEventListener('abort', onAbort));
          return last;
        }
      } while (patient && underWay.size > 0);
    }
    return last;
  } finally {
    if (answering.size === 0) signal.removeEventListener('abort', onAbort);
    for (const [own, late] of underWay) {
      own.abort();
      // It was not heard, so what became of it is nobody's concern.
      late.then(({ tried }) => ('response' in tried ? tried.response.body.dump() : undefined)).catch(() => undefined);
    }
  }
}

/** What comes first, or undefined after so long. */
async function firstOf<T>(promises: Iterable<Promise<T>>, withinMs: number | undefined): Promise<T | undefined> {
  if (withinMs === undefined) return Promise.race(promises);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, withinMs, undefined);
  });
  try {
    return await Promise.race([...promises, late]);
  } finally {
    clearTimeout(timer);
  }
}
