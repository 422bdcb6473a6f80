import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Labels, Logger, Span, SpanKind, SpanOptions, Telemetry } from '@bindery/telemetry';

/** A span that has ended. */
export interface RecordedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** `traceparent` of each link. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failed: boolean;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface RecordingTelemetry extends Telemetry {
  readonly spans: readonly RecordedSpan[];
  readonly logs: readonly LogLine[];
  /** What was added to counters, by name. */
  counted(name: string, labels?: Labels): number;
  /** How often a histogram was recorded to. */
  recorded(name: string): number;
  /** Reads gauges now, by name. */
  gauges(name: string): Promise<readonly { readonly value: number; readonly labels?: Labels }[]>;
}

/** Telemetry that keeps everything in memory, for assertions. */
export const recordingTelemetry = (): RecordingTelemetry => {
  const active = new AsyncLocalStorage<string>();
  const spans: RecordedSpan[] = [];
  const logs: LogLine[] = [];
  const additions: { readonly name: string; readonly by: number; readonly labels: Labels }[] = [];
  const gauges = new Map<string, Parameters<Telemetry['metrics']['gauge']>[3][]>();

  const loggerWith = (own: Readonly<Record<string, unknown>>): Logger => {
    const write =
      (level: LogLine['level']) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
        logs.push({ level, message, fields: { ...own, ...fields } });
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => loggerWith({ ...own, ...fields }),
    };
  };

  const begin = (name: string, options: SpanOptions): { readonly traceparent: string; readonly span: Span } => {
    const parent = options.root === true ? undefined : (options.parent ?? active.getStore());
    const [, parentTrace, parentId] = parent?.split('-') ?? [];
    const traceId = parentTrace ?? randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const traceparent = `00-${traceId}-${spanId}-01`;
    const attributes: Record<string, string | number | boolean> = { ...options.attributes };
    const links = (options.links ?? []).filter((link) => link !== undefined);
    const kind = options.kind ?? 'internal';
    let failed = false;
    const span: Span = {
      traceparent,
      set: (attribute, value) => {
        attributes[attribute] = value;
      },
      fail: () => {
        failed = true;
      },
      end: () => void spans.push({ name, kind, traceId, spanId, parentId, links, attributes, failed }),
    };
    return { traceparent, span };
  };

  return {
    spans,
    logs,
    logger: loggerWith({}),
    tracer: {
      enabled: true,
      current: () => active.getStore(),
      within: (traceparent, work) => (traceparent === undefined ? work() : active.run(traceparent, work)),
      start: (name, options) => begin(name, options).span,
      span: async (name, options, work) => {
        const { traceparent, span } = begin(name, options);
        try {
          return await active.run(traceparent, () => work(span));
        } catch (error) {
          span.fail(error);
          throw error;
        } finally {
          span.end();
        }
      },
    },
    metrics: {
      counter: (name) => ({ add: (by, labels = {}) => void additions.push({ name, by, labels }) }),
      histogram: (name) => ({ record: (_value, labels = {}) => void additions.push({ name, by: 1, labels }) }),
      gauge: (name, _help, _labels, read) => void gauges.set(name, [...(gauges.get(name) ?? []), read]),
    },
    counted: (name, labels = {}) =>
      additions
        .filter((added) => added.name === name)
        .filter((added) => Object.entries(labels).every(([label, value]) => added.labels[label] === value))
        .reduce((sum, { by }) => sum + by, 0),
    recorded: (name) => additions.filter((added) => added.name === name).length,
    gauges: async (name) => (await Promise.all((gauges.get(name) ?? []).map(async (read) => read()))).flat(),
    scrape: async () => '',
    shutdown: async () => undefined,
  };
};
