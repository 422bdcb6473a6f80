import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

type Value = Readonly<Record<string, unknown>>;
type Attributes = readonly { readonly key: string; readonly value: Value }[];

/** A span as OTLP has it in JSON; `kind` 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Attributes;
  readonly status?: { readonly code?: number };
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  /** `service.name` of the process that sent it. */
  readonly service: string;
}

interface Exported {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'service'>[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: ReadonlySet<string>;
  /** From now on answers nothing: requests stay open. */
  freeze(): void;
  /** Answers again. */
  thaw(): void;
  /**
   * Waits until `found` holds for what has come in.
   * @throws Error after `withinMs`, with what `explain` says
   */
  until(found: (spans: readonly ReceivedSpan[]) => boolean, withinMs: number, explain?: () => string): Promise<void>;
  close(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
};

/** A collector's OTLP/HTTP endpoint that keeps what it is sent, as JSON. */
export const startOtlpReceiver = async (): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = [];
  const metrics = new Set<string>();
  const arrivals = new Set<() => void>();
  let frozen = false;
  const server = createServer(async (request, response) => {
    const body: Exported = JSON.parse(await bodyOf(request));
    if (frozen) return;
    for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
      const name = resource?.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, service: String(name) });
    }
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const scope of scopeMetrics) for (const { name } of scope.metrics) metrics.add(name);
    response.setHeader('content-type', 'application/json').end('{}');
    for (const arrived of arrivals) arrived();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
    },
    until: (found, withinMs, explain = () => '') =>
      new Promise((resolve, reject) => {
        const done = (end: () => void): void => {
          clearTimeout(timer);
          arrivals.delete(look);
          end();
        };
        const look = (): void => {
          if (found(spans)) done(resolve);
        };
        const timer = setTimeout(
          () => done(() => reject(new Error(`spans did not come within ${withinMs} ms. ${explain()}`))),
          withinMs,
        );
        arrivals.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
