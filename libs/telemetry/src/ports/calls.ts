import type { Span, SpanOptions, Telemetry } from '../port.ts';

/** Name of the engine behind a port, as `db.system.name` or `messaging.system` have it. */
export type System =
  | 'sqlite'
  | 'eventstoredb'
  | 'mongodb'
  | 'redis'
  | 'memory'
  | 'kafka'
  | 'embedded'
  | 's3'
  | 'filesystem';

type Attributes = NonNullable<SpanOptions['attributes']>;

/** Times, counts and traces calls of one back end. */
export interface BackEndCalls {
  /** One call; `what` is the collection, topic or the like. Runs in a client span when it is part of a trace. */
  run<T>(operation: string, what: string, attributes: Attributes, work: (span?: Span) => Promise<T>): Promise<T>;
  /** The same for what is read piece by piece. */
  iterate<T>(operation: string, what: string, attributes: Attributes, items: AsyncIterable<T>): AsyncIterable<T>;
}

const codeOf = (error: unknown): string => {
  const { code, name } = Object(error);
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'error';
};

/** Errors of a port have fixed codes; anything else is counted as one kind, so that labels stay few. */
const labelOf = (error: unknown): string => {
  const code = codeOf(error);
  return /^[a-z_]+\.[a-z_]+$/.test(code) ? code : 'other';
};

/**
 * Calls outside a trace (leases, lags, polls) get no span: they would be traces of their own, without end and without use.
 * With tracing off a call costs a clock reading and a histogram.
 */
export const backEndCalls = (
  telemetry: Telemetry,
  port: string,
  system: System,
  prefix: 'db' | 'bindery',
): BackEndCalls => {
  const { tracer, metrics } = telemetry;
  const labels = ['port', 'system', 'operation'];
  const duration = metrics.histogram(
    'bindery_backend_duration_seconds',
    'Time that a back end took to answer.',
    labels,
  );
  const errors = metrics.counter('bindery_backend_errors_total', 'Calls that a back end refused or did not answer.', [
    ...labels,
    'code',
  ]);
  const fixed = { [`${prefix}.system.name`]: system };
  const record = (operation: string, started: number): void =>
    duration.record((performance.now() - started) / 1000, { port, system, operation });
  const failed = (operation: string, error: unknown): void =>
    errors.add(1, { port, system, operation, code: labelOf(error) });

  const timed = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    try {
      return await work();
    } catch (error) {
      failed(operation, error);
      throw error;
    } finally {
      record(operation, started);
    }
  };
  const options = (operation: string, what: string, attributes: Attributes): SpanOptions => ({
    kind: 'client',
    attributes: {
      ...fixed,
      [`${prefix}.operation.name`]: operation,
      ...(what === '' ? {} : { [`${prefix}.collection.name`]: what }),
      ...attributes,
    },
  });
  const traced = (): boolean => tracer.enabled && tracer.current() !== undefined;
  const nameOf = (operation: string, what: string): string => (what === '' ? operation : `${operation} ${what}`);

  return {
    run: (operation, what, attributes, work) =>
      timed(operation, () =>
        traced() ? tracer.span(nameOf(operation, what), options(operation, what, attributes), work) : work(),
      ),
    async *iterate(operation, what, attributes, items) {
      const started = performance.now();
      const span = traced() ? tracer.start(nameOf(operation, what), options(operation, what, attributes)) : undefined;
      let count = 0;
      try {
        for await (const item of items) {
          count += 1;
          yield item;
        }
      } catch (error) {
        failed(operation, error);
        span?.fail(error);
        throw error;
      } finally {
        record(operation, started);
        span?.set(`${prefix}.response.returned_rows`, count);
        span?.end();
      }
    },
  };
};
