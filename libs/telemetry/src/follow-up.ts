import type { SpanOptions } from './port.ts';

/** What comes later than this after its cause is a replay or the end of an outage, and is no part of a trace any more. */
export const FOLLOW_UP_MS = 300_000;

/**
 * How the span of an asynchronous step is tied to the span that caused it. The conventions for messaging ask for a link to
 * the creation context in any case, and allow it as the parent where one message is handled at a time, which makes one
 * connected trace of request and consequences. A replay would add to traces that were closed long ago: it begins a trace of
 * its own and keeps only the link (PITFALLS 51).
 * @param traceparent of the cause, from event metadata or message headers
 * @param time ISO time of the cause
 * @param now in ms since the epoch
 */
export const followUp = (
  traceparent: string | undefined,
  time: string,
  now: number,
): Pick<SpanOptions, 'parent' | 'links' | 'root'> => {
  if (traceparent === undefined) return { root: true };
  const age = now - Date.parse(time);
  return age <= FOLLOW_UP_MS ? { parent: traceparent, links: [traceparent] } : { root: true, links: [traceparent] };
};
