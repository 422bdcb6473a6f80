import type { Metrics } from '@bindery/telemetry';
import { Problem } from './errors.ts';
import { createTurns, type Share } from './fair-turns.ts';

/** How much a process takes on at once (PITFALLS 48). */
export interface AdmissionLimits {
  /** Requests that are worked on at once. */
  readonly inFlight: number;
  /** Requests that wait for a place, of callers and beside them of nobody; more are refused. */
  readonly waiting: number;
  /** Longest wait for a place, in ms; ten times that for a caller whose own requests take up its share. */
  readonly waitMs: number;
  /** Of those, requests of one caller that are worked on at once. Default: that of {@link defaultAdmissionLimits}. */
  readonly perCaller?: number;
}

/** Limits of whoever names none. */
export const defaultAdmissionLimits = {
  inFlight: 512,
  waiting: 1024,
  waitMs: 1000,
  perCaller: 32,
} as const satisfies AdmissionLimits;

/** Codes of the refusals, which are counted and not logged: under load there is one for every request too many. */
export const busyCode = 'instance.busy';
export const shareCode = 'rate.share';

/** Places for requests. */
export interface Admission {
  /**
   * Takes a place.
   * @param reader tells by `close` that nobody waits any more
   * @param caller in whose share it counts; absent: in nobody's (calls in the course of others)
   * @returns the place, so that requests do not wait a turn for it when there is one; otherwise settles when there is one
   * @throws Problem 503 `instance.busy`, 429 `rate.share`, also by rejection: there is none (for this caller), or none in time;
   *   503 `caller.gone`: the reader went before whoever asked had the place, which is free again
   */
  enter(reader: Reader, caller?: string): Place | Promise<Place>;
}

/** A place that a request has. */
export interface Place {
  /**
   * Lets the request count in the share of somebody else: of whom it is known now that it is theirs.
   * @returns undefined when that is settled at once, otherwise settles when there is a place in that share
   * @throws Problem as `enter`, also by rejection; the place is given back then
   */
  countFor(caller: string): Promise<void> | undefined;
  /** Gives it back. Once or more often. */
  leave(): void;
}

/** The part of a response that says whether its reader is there. */
export interface Reader {
  /** It is not: `close` was said, or will be. */
  readonly destroyed?: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Whoever waits for answers to its own requests may do so for as many times the longest wait. */
const ownPatience = 10;

const busy = (): Problem =>
  new Problem('unavailable', busyCode, 'There is more to do than can be done at the moment; try again shortly.', {
    retryAfter: 1,
  });
const callerGone = (): Problem => new Problem('unavailable', 'caller.gone', 'Nobody waits for the answer any more.');
/** 429: so much of this caller is under way that its next request was not begun. */
export const overShare = (): Problem =>
  new Problem('rate-limited', shareCode, 'Too many requests of one caller at once; wait for some of the answers.', {
    retryAfter: 1,
  });

/**
 * A bounded number of requests at once, of which each caller has a share, and a short queue in which callers take turns:
 * whoever has least under way is next, and of its requests the oldest. What is nobody's is next before all of them, and
 * then every other time: those that have begun wait for it. A caller may have as much under way as is still free
 * for others, and no more than its share; it may queue as much as is still free in the queue. So one that floods leaves half
 * of everything to the others, two a third, and whoever comes with one request finds a place or is next. Of what comes at
 * once a caller begins only a few requests in each turn of the event loop.
 * @param lane what kind of requests, in metrics
 */
export function createAdmission(limits: AdmissionLimits, metrics: Metrics, lane: string): Admission {
  const { inFlight, waiting, waitMs, perCaller = defaultAdmissionLimits.perCaller } = limits;
  const turns = createTurns({ places: inFlight, queue: waiting, perCaller }, setImmediate);
  const labels = { lane };
  const refused = metrics.counter(
    'bindery_requests_refused_total',
    'Requests that were refused because too many were under way.',
    ['lane'],
  );
  const over = metrics.counter(
    'bindery_requests_over_share_total',
    'Requests that were refused because too many of the same caller were under way.',
    ['lane'],
  );
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge(name, help, ['lane'], () => [{ value: read(), labels }]);
  gauge('bindery_requests_in_flight', 'Requests that are worked on.', () => turns.taken);
  gauge('bindery_requests_waiting', 'Requests that wait until they are worked on.', () => turns.queued);
  gauge('bindery_request_callers', 'Callers of whom requests are worked on or wait.', () => turns.callers);

  const refusal = (share: Share): Problem => {
    const own = turns.isOwnDoing(share);
    (own ? over : refused).add(1, labels);
    return own ? overShare() : busy();
  };

  const wait = async (reader: Reader, share: Share): Promise<void> => {
    // Until whoever asked goes on, and not only until it is admitted: of a connection that breaks all readers go within one
    // turn, and the place that the first of them leaves is that of the next.
    let isGone = false;
    const gone = (): void => {
      isGone = true;
    };
    reader.once('close', gone);
    try {
      await untilAdmitted(reader, share);
    } finally {
      reader.off('close', gone);
    }
    if (!isGone && reader.destroyed !== true) return;
    turns.give(share);
    throw callerGone();
  };

  const untilAdmitted = (reader: Reader, share: Share): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        reader.off('close', gone);
      };
      const drop = (reason: Problem): void => {
        end();
        turns.unqueue(share, admit);
        reject(reason);
      };
      const gone = (): void => drop(callerGone());
      const admit = (): void => {
        end();
        resolve();
      };
      const late = (): void => drop(refusal(share));
      let timer = setTimeout(() => {
        // It keeps nobody else waiting.
        if (turns.isOwnDoing(share)) timer = setTimeout(late, waitMs * (ownPatience - 1));
        else late();
      }, waitMs);
      reader.once('close', gone);
      turns.queue(share, admit);
    });

  /** A place in a share. @throws Problem */
  const take = (reader: Reader, share: Share): Promise<void> | undefined => {
    if (turns.take(share)) return undefined;
    if (turns.mayQueue(share)) return wait(reader, share);
    const problem = refusal(share);
    turns.forget(share);
    throw problem;
  };

  return {
    enter(reader, caller) {
      if (reader.destroyed === true) throw callerGone();
      let share: Share | undefined = turns.shareOf(caller);
      let left = false;
      const place: Place = {
        countFor(next) {
          if (share === undefined || share.caller === next) return undefined;
          const former = share;
          const own = turns.shareOf(next);
          if (turns.move(former, own)) {
            share = own;
            return undefined;
          }
          share = undefined;
          turns.give(former);
          const taking = take(reader, own);
          if (taking === undefined) {
            share = own;
            return undefined;
          }
          return taking.then(() => {
            if (left) turns.give(own);
            else share = own;
          });
        },
        leave() {
          left = true;
          if (share === undefined) return;
          turns.give(share);
          share = undefined;
        },
      };
      const entering = take(reader, share);
      return entering === undefined ? place : entering.then(() => place);
    },
  };
}
