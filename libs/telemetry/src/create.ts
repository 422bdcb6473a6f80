import { setTimeout as delay } from 'node:timers/promises';
import { createLogger, type LogLevel, type LogSink } from './logger.ts';
import { noopTracer } from './noop.ts';
import type { OtlpOptions } from './otlp.ts';
import type { Telemetry } from './port.ts';

export interface TelemetryOptions {
  /** Name in log lines and in the resource of spans and metrics. */
  readonly service: string;
  readonly version: string;
  readonly logLevel: LogLevel;
  /** Default `json`. */
  readonly logFormat?: 'json' | 'text';
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: base address of a collector. Absent: nothing is traced, and no SDK is loaded. */
  readonly otlpEndpoint?: string | undefined;
  /** `OTEL_TRACES_SAMPLER_ARG`: share of the traces begun here that are recorded, 0 to 1. Default 1. */
  readonly sampleRatio?: number | undefined;
  /** Where log lines go; standard output by default. */
  readonly stdout?: LogSink;
  /** Whether figures of the process itself (memory, event loop, garbage collection) are among the metrics. Default false. */
  readonly processMetrics?: boolean;
  /** How often metrics are exported when there is an endpoint, in ms, default 15,000. */
  readonly metricsIntervalMs?: number;
}

const SHUTDOWN_MS = 5000;

/** Logs, metrics and, with an endpoint, traces of one process (DESIGN section 9). */
export const createTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const { service, version, otlpEndpoint, metricsIntervalMs = 15_000, sampleRatio = 1 } = options;
  const { createMetrics } = await import('./metrics.ts');
  let onSpans: OtlpOptions['onSpans'] = () => undefined;
  const otlp =
    otlpEndpoint === undefined || otlpEndpoint === ''
      ? undefined
      : (await import('./otlp.ts')).startOtlp({
          ...{ service, version, endpoint: otlpEndpoint, metricsIntervalMs, sampleRatio },
          onSpans: (count, outcome) => onSpans(count, outcome),
        });
  const { metrics, scrape } = createMetrics(otlp?.mirror, options.processMetrics ?? false);
  const spans = metrics.counter('bindery_trace_spans_total', 'Spans that left, or why they did not.', ['outcome']);
  onSpans = (count, outcome) => spans.add(count, { outcome });
  const tracer = otlp?.tracer ?? noopTracer;
  return {
    logger: createLogger({
      service,
      version,
      level: options.logLevel,
      format: options.logFormat ?? 'json',
      sink: options.stdout ?? process.stdout,
      current: () => tracer.current(),
    }),
    tracer,
    metrics,
    scrape,
    shutdown: async () => {
      if (otlp !== undefined) await Promise.race([otlp.shutdown(), delay(SHUTDOWN_MS, undefined, { ref: false })]);
    },
  };
};
