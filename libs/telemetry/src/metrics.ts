import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { registerCounter, registerHistogram } from './instruments.ts';
import type { Labels, Metrics } from './port.ts';

type Reader = Parameters<Metrics['gauge']>[3];

/** Buckets in seconds, from half a millisecond (a read in memory) to 10 s (a request's deadline). */
export const SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** How often the lag of the event loop is looked at, in ms: each look wakes the process, and the default is 100 a second. */
const LAG_MS = 50;

/** A second place where everything recorded goes (OTLP). */
export type MetricsMirror = Metrics;

/**
 * Metrics of the process. Instruments are made by name, once: several services of one process share them, told apart by
 * their `service` label; the readers of a gauge add up.
 */
export const createMetrics = (
  mirror?: MetricsMirror,
  processMetrics = false,
): { readonly metrics: Metrics; scrape(): Promise<string> } => {
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_MS });
  const counters = new Map<string, ReturnType<Metrics['counter']>>();
  const histograms = new Map<string, ReturnType<Metrics['histogram']>>();
  const readers = new Map<string, Reader[]>();

  const makeCounter = (name: string, help: string, labels: readonly string[]): ReturnType<Metrics['counter']> => {
    const own = registerCounter(registry, name, help, labels);
    const other = mirror?.counter(name, help, labels);
    return {
      add: (by, values: Labels = {}) => {
        own(by, values);
        other?.add(by, values);
      },
    };
  };
  const makeHistogram = (
    name: string,
    help: string,
    labels: readonly string[],
    buckets: readonly number[],
  ): ReturnType<Metrics['histogram']> => {
    const own = registerHistogram(registry, name, help, labels, buckets);
    const other = mirror?.histogram(name, help, labels, buckets);
    return {
      record: (value, values: Labels = {}) => {
        own(value, values);
        other?.record(value, values);
      },
    };
  };
  const makeGauge = (name: string, help: string, labels: readonly string[]): Reader[] => {
    const all: Reader[] = [];
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      async collect() {
        this.reset();
        for (const { value, labels: values = {} } of await readAll(all)) this.set(values, value);
      },
    });
    mirror?.gauge(name, help, labels, () => readAll(all));
    return all;
  };

  const metrics: Metrics = {
    counter: (name, help, labels = []) => memo(counters, name, () => makeCounter(name, help, labels)),
    histogram: (name, help, labels = [], buckets = SECONDS) =>
      memo(histograms, name, () => makeHistogram(name, help, labels, buckets)),
    gauge: (name, help, labels, read) => {
      memo(readers, name, () => makeGauge(name, help, labels)).push(read);
    },
  };
  return { metrics, scrape: () => registry.metrics() };
};

const memo = <T>(map: Map<string, T>, name: string, make: () => T): T => {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
};

/** A reader that fails (its store is down) leaves a hole in the graph, and the other figures stand. */
const readAll = async (readers: readonly Reader[]): Promise<Awaited<ReturnType<Reader>>> => {
  const read = await Promise.allSettled(readers.map(async (reader) => reader()));
  return read.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
};
