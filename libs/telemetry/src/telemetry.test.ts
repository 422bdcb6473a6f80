import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startOtlpReceiver } from '@bindery/testing/telemetry';
import { describe, expect, test } from '@jest/globals';

import {
  createTelemetry,
  FOLLOW_UP_MS,
  followUp,
  noopTelemetry,
  type Telemetry,
  type TelemetryOptions,
} from './index.ts';

const open = async (
  options: Partial<TelemetryOptions> = {},
): Promise<{ telemetry: Telemetry; text: string[]; lines: () => Record<string, unknown>[] }> => {
  const text: string[] = [];
  const telemetry = await createTelemetry({
    service: 'content',
    version: '1.2.3',
    logLevel: 'info',
    stdout: { write: (line) => text.push(line) },
    ...options,
  });
  return { telemetry, text, lines: () => text.map((line) => JSON.parse(line)) };
};

describe('logs', () => {
  test('are JSON, one object a line, with level, time, service and fields', async () => {
    const { telemetry, lines, text } = await open();
    telemetry.logger.child({ requestId: 'r1' }).warn('slow\nanswer', { ms: 1200 });
    telemetry.logger.debug('not at this level');
    expect(text).toHaveLength(1);
    expect(text[0]?.endsWith('}\n')).toBe(true);
    expect(lines()).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        service: 'content',
        version: '1.2.3',
        requestId: 'r1',
        ms: 1200,
        message: 'slow\nanswer',
      },
    ]);
  });

  test('a name stands in a line once, with what the innermost logger says', async () => {
    const { telemetry, text, lines } = await open();
    const child = telemetry.logger.child({ service: 'search', part: 'a' });
    child.info('x');
    child.child({ part: 'b' }).info('y');
    telemetry.logger.info('z');
    telemetry.logger.info('w', { service: 'identity' });
    for (const line of text) expect(line.match(/"service"/g)).toHaveLength(1);
    expect(text[1]?.match(/"part"/g)).toHaveLength(1);
    expect(lines().map(({ service, part }) => [service, part])).toEqual([
      ['search', 'a'],
      ['search', 'b'],
      ['content', undefined],
      ['identity', undefined],
    ]);
  });

  test('never hold secrets or personal data, whatever they are nested in', async () => {
    const { telemetry, text } = await open();
    const marker = 'hunter2-marker';
    telemetry.logger.child({ token: marker }).info('x', {
      headers: { Authorization: marker, 'set-cookie': marker, cookie: marker, 'x-api-key': marker },
      nested: [{ deep: { password: marker, clientSecret: marker, private_key: marker, certificate: marker } }],
      user: { email: marker, displayName: marker, id: 'u1', tokenId: 't1' },
      err: Object.assign(new Error('no'), { secret: marker, cause: { accessToken: marker } }),
    });
    expect(text.join('')).not.toContain(marker);
    expect(text.join('')).toContain('"tokenId":"t1"');
    expect(text.join('')).toContain('"message":"no"');
  });

  test('survive cycles, depth, bytes, functions and long texts', async () => {
    const { telemetry, lines } = await open();
    const cycle: Record<string, unknown> = { n: 1n, f: () => 1, bytes: new Uint8Array(5), at: new Date(Number.NaN) };
    cycle.self = cycle;
    telemetry.logger.error('odd', { cycle, long: 'x'.repeat(100_000), list: Array.from({ length: 5000 }, () => 1) });
    const [line] = lines();
    expect(line).toMatchObject({ cycle: { n: '1', bytes: '[5 bytes]', at: 'Invalid Date' } });
    expect(JSON.stringify(line).length).toBeLessThan(12_000);
  });

  test('can be read by people', async () => {
    const { telemetry, text } = await open({ logFormat: 'text' });
    telemetry.logger.info('listening', { port: 8080 });
    expect(text[0]).toMatch(/^\S+Z INFO {2}content: listening \{"port":8080\}\n$/);
  });
});

describe('metrics', () => {
  test('are shown as Prometheus text; services of one process share instruments', async () => {
    const { telemetry } = await open();
    const { metrics } = telemetry;
    metrics.counter('bindery_things_total', 'Things.', ['service']).add(2, { service: 'a' });
    metrics.counter('bindery_things_total', 'Things.', ['service']).add(3, { service: 'b' });
    metrics.histogram('bindery_wait_seconds', 'Waits.', [], [0.1, 1]).record(0.5);
    for (const service of ['a', 'b'])
      metrics.gauge('bindery_lag', 'Lag.', ['service'], () => [{ value: service.length, labels: { service } }]);
    metrics.gauge('bindery_lag', 'Lag.', ['service'], async () => Promise.reject(new Error('its store is down')));
    const text = await telemetry.scrape();
    for (const line of [
      'bindery_things_total{service="a"} 2',
      'bindery_things_total{service="b"} 3',
      'bindery_wait_seconds_bucket{le="0.1"} 0',
      'bindery_wait_seconds_bucket{le="1"} 1',
      'bindery_wait_seconds_count 1',
      'bindery_lag{service="a"} 1',
      'bindery_lag{service="b"} 1',
    ])
      expect(text).toContain(line);
  });

  test('are kept for each combination of labels, in whatever order these are named, and counted once however often they are read', async () => {
    const { telemetry } = await open();
    const { metrics } = telemetry;
    const counter = metrics.counter('c_total', 'C.', ['a', 'b']);
    counter.add(1, { a: 'x', b: 'y' });
    counter.add(2, { b: 'y', a: 'x' });
    counter.add(4, { a: 'y', b: 'x' });
    counter.add(8, { a: 'x' });
    metrics.counter('none_total', 'N.');
    const histogram = metrics.histogram('h_seconds', 'H.', ['a', 'b'], [0.1, 1]);
    for (const value of [0.1, 0.2, 1, 5]) histogram.record(value, { a: 'say "x"', b: 'y' });
    histogram.record(0, { a: 'z', b: 'y' });
    await telemetry.scrape();
    const lines = (await telemetry.scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        ...['c_total{a="x",b="y"} 3', 'c_total{a="y",b="x"} 4', 'c_total{a="x"} 8', 'none_total 0'],
        ...['h_seconds_bucket{le="0.1",a="say \\"x\\"",b="y"} 1', 'h_seconds_bucket{le="1",a="say \\"x\\"",b="y"} 3'],
        ...['h_seconds_bucket{le="+Inf",a="say \\"x\\"",b="y"} 4', 'h_seconds_sum{a="say \\"x\\"",b="y"} 6.3'],
        ...['h_seconds_count{a="say \\"x\\"",b="y"} 4', 'h_seconds_count{a="z",b="y"} 1', '# TYPE h_seconds histogram'],
      ]),
    );
    expect(() => counter.add(1, { a: 'new', c: 'y' })).toThrow('label c');
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => counter.add(wrong)).toThrow(RangeError);
    expect(() => histogram.record(Number.NaN, { a: 'x', b: 'y' })).toThrow(TypeError);
  });

  test('of a label that has gone are gone', async () => {
    const { telemetry } = await open();
    let labels = ['a', 'b'];
    telemetry.metrics.gauge('g', 'G.', ['x'], () => labels.map((x) => ({ value: 1, labels: { x } })));
    expect(await telemetry.scrape()).toContain('g{x="b"}');
    labels = ['a'];
    expect(await telemetry.scrape()).not.toContain('g{x="b"}');
  });
});

describe('traces', () => {
  test('reach a collector as one tree; what follows later is linked; log lines carry the ids', async () => {
    const collector = await startOtlpReceiver();
    const { telemetry, lines } = await open({ otlpEndpoint: `${collector.endpoint}/` });
    const { tracer, logger } = telemetry;
    let cause: string | undefined;
    const remote = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
    await tracer.span('request', { kind: 'server', parent: remote, attributes: { 'http.method': 'GET' } }, async () => {
      await Promise.all([
        tracer.span('left', {}, async () => {
          await new Promise(setImmediate);
          await tracer.span('leaf', { kind: 'client' }, async () => logger.info('in the leaf'));
        }),
        tracer.span('right', { kind: 'producer' }, async (span) => {
          cause = span.traceparent;
          expect(tracer.current()).toBe(cause);
          span.set('n', 3);
        }),
      ]);
    });
    const failure = tracer.span('later', { kind: 'consumer', links: [cause, undefined, 'nonsense'] }, async () => {
      throw Object.assign(new TypeError('secret detail'), { code: 'x.failed' });
    });
    await expect(failure).rejects.toThrow('secret detail');
    expect(tracer.current()).toBeUndefined();
    telemetry.metrics.counter('bindery_exported_total', 'E.').add(1);
    telemetry.metrics.gauge('bindery_exported', 'E.', [], () => [{ value: 1 }]);
    await telemetry.shutdown();

    const named = (name: string) => collector.spans.find((span) => span.name === name);
    const request = named('request');
    expect(request).toMatchObject({
      traceId: '0123456789abcdef0123456789abcdef',
      parentSpanId: '0123456789abcdef',
      kind: 2,
    });
    for (const name of ['left', 'right'])
      expect(named(name)).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
    expect(named('leaf')).toMatchObject({ traceId: request?.traceId, parentSpanId: named('left')?.spanId, kind: 3 });
    expect(named('right')?.attributes).toEqual([{ key: 'n', value: { intValue: 3 } }]);
    expect(named('later')).toMatchObject({
      kind: 5,
      status: { code: 2 },
      links: [{ traceId: request?.traceId, spanId: named('right')?.spanId }],
    });
    expect(named('later')?.traceId).not.toBe(request?.traceId);
    expect(JSON.stringify(collector.spans)).not.toContain('secret detail');
    expect(collector.spans).toHaveLength(5);
    expect(lines()).toMatchObject([
      { message: 'in the leaf', traceId: request?.traceId, spanId: named('leaf')?.spanId },
    ]);
    expect(collector.metrics).toEqual(new Set(['bindery_exported_total', 'bindery_exported']));
    await collector.close();
  });

  test('a malformed parent is no parent', async () => {
    const collector = await startOtlpReceiver();
    const { telemetry } = await open({ otlpEndpoint: collector.endpoint });
    const { tracer } = telemetry;
    for (const parent of ['', 'x', `00-${'0'.repeat(32)}-0123456789abcdef-01`, '00-abc-def-01'])
      await tracer.span('root', { parent }, async () => undefined);
    await telemetry.shutdown();
    expect(collector.spans).toHaveLength(4);
    expect(collector.spans.filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId !== '')).toEqual([]);
    await collector.close();
  });

  test('a collector that does not answer holds nobody up, and the shutdown for a bounded time', async () => {
    const collector = await startOtlpReceiver();
    collector.freeze();
    const { telemetry } = await open({ otlpEndpoint: collector.endpoint });
    const began = performance.now();
    await telemetry.tracer.span('x', {}, async () => undefined);
    expect(performance.now() - began).toBeLessThan(1000);
    await telemetry.shutdown();
    expect(performance.now() - began).toBeLessThan(8000);
    await collector.close();
  });

  test('those begun here are recorded by ratio, those begun by a caller as the caller decided', async () => {
    const collector = await startOtlpReceiver();
    const { telemetry } = await open({ otlpEndpoint: collector.endpoint, sampleRatio: 0 });
    const { tracer } = telemetry;
    const parent = (flags: string): string => `00-0123456789abcdef0123456789abcdef-0123456789abcdef-${flags}`;
    let carried: string | undefined;
    await tracer.span('own', {}, async (span) => {
      carried = span.traceparent;
      await tracer.span('below own', {}, async () => undefined);
    });
    await tracer.span('wanted', { parent: parent('01') }, async () => undefined);
    await tracer.span('not wanted', { parent: parent('00') }, async () => undefined);
    await telemetry.shutdown();
    expect(carried).toMatch(/-00$/); // whoever continues it knows
    expect(collector.spans.map(({ name }) => name)).toEqual(['wanted']);
    await collector.close();
  });

  test('what waits for a collector that is away is bounded, and counted when it is dropped; afterwards spans leave again', async () => {
    const collector = await startOtlpReceiver();
    collector.freeze();
    const { telemetry } = await open({ otlpEndpoint: collector.endpoint });
    const { tracer } = telemetry;
    for (let index = 0; index < 6000; index += 1) tracer.start('lost', {}).end();
    const scraped = await telemetry.scrape();
    expect(scraped).toContain('bindery_trace_spans_total{outcome="dropped"} 1904');
    collector.thaw();
    await collector.until(() => {
      tracer.start('later', {}).end();
      return collector.spans.some(({ name }) => name === 'later');
    }, 20_000);
    await telemetry.shutdown();
    await collector.close();
  });

  test('a replay begins a trace of its own and keeps the link; what follows soon is part of its cause', () => {
    const cause = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
    const time = '2026-01-01T00:00:00.000Z';
    const at = Date.parse(time);
    expect(followUp(cause, time, at + FOLLOW_UP_MS)).toEqual({ parent: cause, links: [cause] });
    expect(followUp(cause, time, at + FOLLOW_UP_MS + 1)).toEqual({ root: true, links: [cause] });
    expect(followUp(cause, 'no time', at)).toEqual({ root: true, links: [cause] });
    expect(followUp(undefined, time, at)).toEqual({ root: true });
  });

  test('without an endpoint nothing is traced, and the SDK is not even loaded', async () => {
    const { telemetry } = await open();
    expect(telemetry.tracer.enabled).toBe(false);
    const seen: unknown[] = [];
    await telemetry.tracer.span('x', {}, async (span) => seen.push(span.traceparent, telemetry.tracer.current()));
    expect(seen).toEqual([undefined, undefined]);
    const index = fileURLToPath(new URL('./index.ts', import.meta.url));
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { createTelemetry } = await import(${JSON.stringify(index)});
      await createTelemetry({ service: 's', version: '1', logLevel: 'info' });
      process.stdout.write(JSON.stringify(loaded));
    `;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { maxBuffer: 1e7 });
    const loaded: string[] = JSON.parse(stdout);
    expect(loaded.some((url) => url.includes('telemetry/src/create.ts'))).toBe(true);
    expect(loaded.filter((url) => /opentelemetry\/(sdk|exporter|otlp)/.test(url))).toEqual([]);
  });
});

test('noop telemetry takes everything and gives nothing', async () => {
  const { logger, tracer, metrics, scrape, shutdown } = noopTelemetry();
  logger.child({ a: 1 }).error('x');
  metrics.counter('a', 'b').add(1);
  metrics.histogram('a', 'b').record(1);
  expect(await tracer.span('x', {}, async (span) => span.traceparent ?? 'none')).toBe('none');
  expect(await scrape()).toBe('');
  await shutdown();
});
