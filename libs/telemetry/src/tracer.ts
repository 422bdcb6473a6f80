import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanOptions, Tracer } from './port.ts';

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

const pattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Reads a W3C `traceparent`; undefined when it is absent or malformed (a foreign header must not fail a request). */
export const parseTraceparent = (text: string | undefined): SpanContext | undefined => {
  const [, traceId, spanId, flags] = (text === undefined ? undefined : pattern.exec(text)) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
};

/** Writes a W3C `traceparent`. */
export const formatTraceparent = (span: SpanContext): string =>
  `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;

const errorType = (error: unknown): string =>
  error instanceof Error ? ('code' in error && typeof error.code === 'string' ? error.code : error.name) : 'error';

/**
 * Our spans over an OpenTelemetry tracer. The active span travels in an AsyncLocalStorage of its own rather than through
 * the API's global context, so that several instances live in one process without knowing of each other.
 */
export const createTracer = (otel: OtelTracer): Tracer => {
  const active = new AsyncLocalStorage<Context>();

  const parentOf = (options: SpanOptions): Context => {
    if (options.root === true) return ROOT_CONTEXT;
    const remote = parseTraceparent(options.parent);
    if (remote !== undefined) return trace.setSpanContext(ROOT_CONTEXT, remote);
    return active.getStore() ?? ROOT_CONTEXT;
  };
  const linksOf = (options: SpanOptions): { context: SpanContext }[] => {
    const links = [];
    for (const text of options.links ?? []) {
      const context = parseTraceparent(text);
      if (context !== undefined) links.push({ context });
    }
    return links;
  };

  const begin = (
    name: string,
    options: SpanOptions,
    parent: Context,
  ): { readonly own: Context; readonly span: Span } => {
    const { kind = 'internal', attributes = {} } = options;
    const otelSpan = otel.startSpan(name, { kind: kinds[kind], links: linksOf(options), attributes }, parent);
    const span: Span = {
      traceparent: formatTraceparent(otelSpan.spanContext()),
      set: (attribute, value) => otelSpan.setAttribute(attribute, value),
      // The kind of the failure only: messages may carry what a caller sent.
      fail: (error) => otelSpan.setAttribute('error.type', errorType(error)).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => otelSpan.end(),
    };
    return { own: trace.setSpan(parent, otelSpan), span };
  };

  return {
    enabled: true,
    current: () => {
      const span = trace.getSpan(active.getStore() ?? ROOT_CONTEXT);
      return span === undefined ? undefined : formatTraceparent(span.spanContext());
    },
    start: (name, options) => begin(name, options, parentOf(options)).span,
    within: (traceparent, work) => {
      const remote = parseTraceparent(traceparent);
      return remote === undefined ? work() : active.run(trace.setSpanContext(ROOT_CONTEXT, remote), work);
    },
    span: async (name, options, work) => {
      const { own, span } = begin(name, options, parentOf(options));
      try {
        return await active.run(own, () => work(span));
      } catch (error) {
        span.fail(error);
        throw error;
      } finally {
        span.end();
      }
    },
  };
};
