import type { EventStore } from '@bindery/event-store';
import type { Telemetry } from '../port.ts';
import { backEndCalls, type System } from './calls.ts';

/** Counts subscriptions that an adapter had to make again. */
export const subscriptionDrops = (metrics: Telemetry['metrics']): ReturnType<Telemetry['metrics']['counter']> =>
  metrics.counter('bindery_event_store_subscription_drops_total', 'Subscriptions that were made again.');

/** `content.space-x1` -> `content.space`: what streams have in common; a span names no single resource twice. */
const categoryOf = (stream: string): string => {
  const end = stream.indexOf('-');
  return end < 0 ? stream : stream.slice(0, end);
};

/**
 * An event store whose appends and reads are spans, by the conventions for databases, and are timed. A subscription is
 * no span: it lasts as long as the process.
 */
export const observedEventStore = (store: EventStore, telemetry: Telemetry, system: System): EventStore => {
  const calls = backEndCalls(telemetry, 'event-store', system, 'db');
  // Counted by adapters that have a connection to lose; there for all, so that rules and dashboards need not tell them apart.
  subscriptionDrops(telemetry.metrics);
  return {
    append: (stream, events, expected) =>
      calls.run(
        'append',
        categoryOf(stream),
        events.length > 1 ? { 'db.operation.batch.size': events.length } : {},
        () => store.append(stream, events, expected),
      ),
    readStream: (stream, options) =>
      calls.iterate('read_stream', categoryOf(stream), {}, store.readStream(stream, options)),
    readAll: (options) => calls.iterate('read_all', '', {}, store.readAll(options)),
    subscribe: (options) => store.subscribe(options),
    head: (prefixes) => store.head(prefixes),
    count: () => store.count(),
    close: () => store.close(),
  };
};
