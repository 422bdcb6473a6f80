import type { EventStore, Position } from '@bindery/event-store';
import type { Clock } from '@bindery/service-kit';
import type { Lag } from '../instruments.ts';

/** Events counted one by one, for each question; beyond it the lag is estimated. */
const MAX_COUNTED = 100;

/**
 * How far a position is behind the end of the log (PITFALLS 6 and 36: by position and by age, not by marks). A short lag is
 * exact; a long one is the distance in the log, in which events of other aggregates count too, so that asking stays cheap
 * however long it is.
 */
export const lagBehind = async (
  eventStore: EventStore,
  clock: Clock,
  prefixes: readonly string[],
  position: Position,
  head: Position,
): Promise<Lag> => {
  if (position >= head) return { position, head, lag: 0, oldestMs: 0 };
  let lag = 0;
  let oldest: string | undefined;
  for await (const { metadata } of eventStore.readAll({ after: position, prefixes, limit: MAX_COUNTED })) {
    oldest ??= metadata.time;
    lag += 1;
  }
  const oldestMs = oldest === undefined ? 0 : Math.max(0, clock.now().getTime() - Date.parse(oldest));
  return { position, head, lag: lag < MAX_COUNTED ? lag : Math.max(lag, head - position), oldestMs };
};
