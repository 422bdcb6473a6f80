import type { Clock } from '@bindery/service-kit';

/** A clock that stands still until it is told to move. */
export interface ManualClock extends Clock {
  /** Moves it forward by so many ms. */
  advance(ms: number): void;
  set(time: string): void;
}

/** @param start ISO time; the default is the same in all tests */
export const manualClock = (start = '2026-03-01T12:00:00.000Z'): ManualClock => {
  let now = Date.parse(start);
  return {
    now: () => new Date(now),
    advance: (ms) => {
      now += ms;
    },
    set: (time) => {
      now = Date.parse(time);
    },
  };
};
