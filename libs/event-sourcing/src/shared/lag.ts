import type { EventStore, Position } from '@bindery/event-store';
import type { Clock } from '@bindery/service-kit';
import type { Lag } from '../instruments.ts';

/** Events counted one by one; a lag of this many or more is reported as this. */
const MAX_COUNTED = 1000;

/** How far a position is behind the end of the log (PITFALLS 6 and 36: by position and by age, not by marks). */
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
  return { position, head, lag, oldestMs };
};
