import type { Metrics } from '@bindery/telemetry';
import { Problem } from './errors.ts';

/** How much a process takes on at once (PITFALLS 48). */
export interface AdmissionLimits {
  /** Requests that are worked on at once. */
  readonly inFlight: number;
  /** Requests that wait for a place; more are refused. */
  readonly waiting: number;
  /** Longest wait for a place, in ms. */
  readonly waitMs: number;
}

/** Limits of whoever names none. */
export const defaultAdmissionLimits: AdmissionLimits = { inFlight: 512, waiting: 512, waitMs: 1000 };

/** Code of the refusal, which is counted and not logged: under load there is one for every request too many. */
export const busyCode = 'instance.busy';

/** Places for requests. Whoever got one gives it back with `leave`, once. */
export interface Admission {
  /**
   * Takes a place.
   * @param caller tells by `close` that nobody waits any more
   * @returns undefined when there was one, so that requests do not wait a turn for it; otherwise settles when there is one
   * @throws Problem 503 `instance.busy`, also by rejection: there is none, or none in time
   */
  enter(caller: Caller): Promise<void> | undefined;
  leave(): void;
}

/** The part of a response that says whether its reader is there. */
export interface Caller {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

interface Waiter {
  readonly admit: () => void;
}

/**
 * A bounded number of requests at once, and a short queue that the first comer leaves first.
 * @param lane what kind of requests, in metrics
 */
export function createAdmission(limits: AdmissionLimits, metrics: Metrics, lane: string): Admission {
  const waiters = new Set<Waiter>();
  let inFlight = 0;
  const labels = { lane };
  const refused = metrics.counter(
    'bindery_requests_refused_total',
    'Requests that were refused because too many were under way.',
    ['lane'],
  );
  metrics.gauge('bindery_requests_in_flight', 'Requests that are worked on.', ['lane'], () => [
    { value: inFlight, labels },
  ]);
  metrics.gauge('bindery_requests_waiting', 'Requests that wait until they are worked on.', ['lane'], () => [
    { value: waiters.size, labels },
  ]);
  const busy = (): Problem => {
    refused.add(1, labels);
    return new Problem(
      'unavailable',
      busyCode,
      'There is more to do than can be done at the moment; try again shortly.',
      {
        retryAfter: 1,
      },
    );
  };

  const wait = (caller: Caller): Promise<void> =>
    new Promise((resolve, reject) => {
      const forget = (): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        caller.off('close', gone);
      };
      const refuse = (): void => {
        forget();
        reject(busy());
      };
      const gone = (): void => {
        forget();
        reject(new Problem('unavailable', 'caller.gone', 'Nobody waits for the answer any more.'));
      };
      const waiter: Waiter = {
        admit() {
          forget();
          resolve();
        },
      };
      const timer = setTimeout(refuse, limits.waitMs);
      caller.once('close', gone);
      waiters.add(waiter);
    });

  return {
    enter(caller) {
      if (inFlight < limits.inFlight) {
        inFlight += 1;
        return undefined;
      }
      if (waiters.size >= limits.waiting) throw busy();
      return wait(caller);
    },
    leave() {
      const [next] = waiters;
      // The place goes from one to the other.
      if (next === undefined) inFlight -= 1;
      else next.admit();
    },
  };
}
