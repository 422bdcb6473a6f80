import type { Telemetry } from '@bindery/telemetry';

type Metrics = Telemetry['metrics'];

/** Names of the metrics of event-sourced services (DESIGN section 9); units are in the names. */
export const METRIC = {
  append: 'bindery_append_duration_seconds',
  conflicts: 'bindery_append_conflicts_total',
  inlineFailures: 'bindery_inline_projection_failures_total',
  projectionLag: 'bindery_projection_lag_events',
  projectionAge: 'bindery_projection_oldest_seconds',
  publisherLag: 'bindery_publisher_lag_events',
  publisherAge: 'bindery_publisher_oldest_seconds',
  published: 'bindery_published_events_total',
  deadLetters: 'bindery_publisher_dead_letters_total',
  reactorLag: 'bindery_reactor_lag_events',
  reactorAge: 'bindery_reactor_oldest_seconds',
  reactorParked: 'bindery_reactor_parked_streams',
  rebuildProgress: 'bindery_rebuild_progress_ratio',
} as const;

/** What the parts of a runtime count and time. */
export interface Instruments {
  readonly append: ReturnType<Metrics['histogram']>;
  readonly conflicts: ReturnType<Metrics['counter']>;
  readonly inlineFailures: ReturnType<Metrics['counter']>;
  readonly published: ReturnType<Metrics['counter']>;
  readonly deadLetters: ReturnType<Metrics['counter']>;
}

export const createInstruments = (metrics: Metrics): Instruments => ({
  append: metrics.histogram(METRIC.append, 'Time to append a batch of events durably.', ['aggregate']),
  conflicts: metrics.counter(METRIC.conflicts, 'Appends that met the events of another process.', ['aggregate']),
  inlineFailures: metrics.counter(
    METRIC.inlineFailures,
    'Documents that a command could not write; the runner repairs them.',
    ['service'],
  ),
  published: metrics.counter(METRIC.published, 'Public events put on the bus.', ['service']),
  deadLetters: metrics.counter(METRIC.deadLetters, 'Public events that did not fit their schema.', ['service']),
});

/** How far behind something is. */
export interface Lag {
  readonly position: number;
  readonly head: number;
  /** Events not handled yet; counted up to a limit. */
  readonly lag: number;
  /** Age of the oldest of them in ms. */
  readonly oldestMs: number;
}

/** Registers lag and age of named parts, read when scraped. */
export const gaugeLags = (
  metrics: Metrics,
  names: { readonly lag: string; readonly age: string; readonly what: string },
  service: string,
  read: () => Promise<readonly { readonly name: string; readonly lag: Lag }[]>,
): void => {
  const labels = ['service', names.what];
  const labelled = (name: string) => ({ service, [names.what]: name });
  metrics.gauge(names.lag, `Events that the ${names.what} has not handled yet.`, labels, async () =>
    (await read()).map(({ name, lag }) => ({ value: lag.lag, labels: labelled(name) })),
  );
  metrics.gauge(names.age, `Age of the oldest event that the ${names.what} has not handled yet.`, labels, async () =>
    (await read()).map(({ name, lag }) => ({ value: lag.oldestMs / 1000, labels: labelled(name) })),
  );
};
