/** Structured log lines: one JSON object a line, with the trace ids of the active span. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A logger that adds these fields to every line. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** A running span. When tracing is off every call is a no-op on one shared object. */
export interface Span {
  set(name: string, value: string | number | boolean): void;
  fail(error: unknown): void;
  end(): void;
  /** W3C `traceparent` of this span, or undefined when tracing is off. */
  readonly traceparent: string | undefined;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Remote parent; the active span otherwise. */
  readonly parent?: string | undefined;
  /** Contexts this span follows without being their child (asynchronous steps). */
  readonly links?: readonly (string | undefined)[];
  /** Begins a trace of its own, whatever is active. */
  readonly root?: boolean;
}

export interface Tracer {
  /** Whether spans are recorded; lets callers skip building attributes. */
  readonly enabled: boolean;
  /** Runs `work` in a span that is active inside it; ends it, recording a failure. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Starts a span that is active nowhere, for work that is no single function; the caller ends it. */
  start(name: string, options: SpanOptions): Span;
  /** Runs `work` as a part of the span that `traceparent` names; as it is when that is none. */
  within<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
  /** `traceparent` of the active span, if any. */
  current(): string | undefined;
}

export type Labels = Readonly<Record<string, string>>;

/** Metrics, exposed as Prometheus text at `/metrics` and by OTLP when an endpoint is configured. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): { add(by: number, labels?: Labels): void };
  /** Seconds or bytes; buckets in the same unit. */
  histogram(
    name: string,
    help: string,
    labels?: readonly string[],
    buckets?: readonly number[],
  ): { record(value: number, labels?: Labels): void };
  /** Read when scraped. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () =>
      | Promise<readonly { readonly value: number; readonly labels?: Labels }[]>
      | readonly { readonly value: number; readonly labels?: Labels }[],
  ): void;
}

export interface Telemetry {
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** Prometheus text exposition. */
  scrape(): Promise<string>;
  /** Flushes and stops exporters, within 5 s. */
  shutdown(): Promise<void>;
}
