import type { Attributes, ObservableResult } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
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
}

export interface Otlp {
  readonly tracer: Tracer;
  readonly mirror: MetricsMirror;
  shutdown(): Promise<void>;
}

const TIMEOUT_MS = 4000;

/**
 * Export to an OpenTelemetry collector over OTLP/HTTP. This module is the only one that imports the SDK, and it is itself
 * imported only when an endpoint is configured.
 */
export const startOtlp = (options: OtlpOptions): Otlp => {
  const base = options.endpoint.replace(/\/+$/, '');
  const resource = resourceFromAttributes({ 'service.name': options.service, 'service.version': options.version });
  const traces = new TracerProvider({
    resource,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${base}/v1/traces`, timeoutMillis: TIMEOUT_MS }),
      }),
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
