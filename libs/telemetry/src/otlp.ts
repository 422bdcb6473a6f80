import { type Attributes, type ObservableResult, TraceFlags } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { MetricsMirror } from './metrics.ts';
import type { Tracer } from './port.ts';
import { createTracer } from './tracer.ts';

export interface OtlpOptions {
  readonly service: string;
  readonly version: string;
  /** Base address of a collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** How often metrics leave, in ms. */
  readonly metricsIntervalMs: number;
  /** Share of the traces begun here that are recorded, 0 to 1. Those begun elsewhere are recorded as was decided there. */
  readonly sampleRatio: number;
  /** Told of what became of spans: they left, the collector did not take them, or there were too many to keep. */
  readonly onSpans: (count: number, outcome: SpanOutcome) => void;
}

export type SpanOutcome = 'exported' | 'failed' | 'dropped';

export interface Otlp {
  readonly tracer: Tracer;
  readonly mirror: MetricsMirror;
  shutdown(): Promise<void>;
}

const TIMEOUT_MS = 4000;
/** Spans that wait to leave; more are dropped, and requests go on (about 4 MB). */
const QUEUE = 4096;
const BATCH = 512;
/** `ExportResultCode.SUCCESS`. */
const SUCCESS = 0;
const SCHEDULE_MS = 1000;
/** What one span may hold. */
const LIMITS = { attributeValueLengthLimit: 256, attributeCountLimit: 32, linkCountLimit: 32 };

/**
 * Export to an OpenTelemetry collector over OTLP/HTTP. This module is the only one that imports the SDK, and it is itself
 * imported only when an endpoint is configured.
 */
export const startOtlp = (options: OtlpOptions): Otlp => {
  const base = options.endpoint.replace(/\/+$/, '');
  const resource = resourceFromAttributes({ 'service.name': options.service, 'service.version': options.version });
  const traces = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanLimits: LIMITS,
    spanProcessors: [
      boundedProcessor(new OTLPTraceExporter({ url: `${base}/v1/traces`, timeoutMillis: TIMEOUT_MS }), options.onSpans),
    ],
  });
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${base}/v1/metrics`, timeoutMillis: TIMEOUT_MS }),
        exportIntervalMillis: options.metricsIntervalMs,
        exportTimeoutMillis: TIMEOUT_MS,
      }),
    ],
  });
  return {
    tracer: createTracer(traces.getTracer('bindery', options.version)),
    mirror: mirrorTo(meters.getMeter('bindery', options.version)),
    shutdown: async () => {
      await Promise.allSettled([traces.shutdown(), meters.shutdown()]);
    },
  };
};

/** Spans in batches to the exporter, counting what becomes of them; the SDK drops what does not fit its queue in silence. */
const boundedProcessor = (exporter: SpanExporter, onSpans: OtlpOptions['onSpans']): SpanProcessor => {
  let waiting = 0;
  const counted: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        waiting -= spans.length;
        onSpans(spans.length, result.code === SUCCESS ? 'exported' : 'failed');
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: counted,
    maxQueueSize: QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: SCHEDULE_MS,
    exportTimeoutMillis: TIMEOUT_MS,
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      // Those on their way to the collector count too, so that the bound holds whatever it does.
      if (waiting >= QUEUE) {
        onSpans(1, 'dropped');
        return;
      }
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
};

const mirrorTo = (meter: ReturnType<MeterProvider['getMeter']>): MetricsMirror => ({
  counter: (name, help) => {
    const counter = meter.createCounter(name, { description: help });
    return { add: (by, labels) => counter.add(by, attributes(labels)) };
  },
  histogram: (name, help, _labels, buckets) => {
    const histogram = meter.createHistogram(name, {
      description: help,
      ...(buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }),
    });
    return { record: (value, labels) => histogram.record(value, attributes(labels)) };
  },
  gauge: (name, help, _labels, read) => {
    meter.createObservableGauge(name, { description: help }).addCallback(async (result: ObservableResult) => {
      for (const { value, labels } of await read()) result.observe(value, attributes(labels));
    });
  },
});

const attributes = (labels: Readonly<Record<string, string>> | undefined): Attributes => ({ ...labels });
