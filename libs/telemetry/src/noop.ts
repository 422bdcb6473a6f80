import type { Logger, Metrics, Span, Telemetry, Tracer } from './port.ts';

const nothing = (): void => undefined;

const noopLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => noopLogger };

const noopSpan: Span = { set: nothing, fail: nothing, end: nothing, traceparent: undefined };

/** A tracer that records nothing: `work` is called with one shared span. What runs when no endpoint is configured. */
export const noopTracer: Tracer = {
  enabled: false,
  span: (_name, _options, work) => work(noopSpan),
  start: () => noopSpan,
  within: (_traceparent, work) => work(),
  current: () => undefined,
};

const instrument = { add: nothing, record: nothing };
const noopMetrics: Metrics = { counter: () => instrument, histogram: () => instrument, gauge: nothing };

/** Telemetry that does nothing, for tests and tools. */
export const noopTelemetry = (): Telemetry => ({
  logger: noopLogger,
  tracer: noopTracer,
  metrics: noopMetrics,
  scrape: async () => '',
  shutdown: async () => undefined,
});
