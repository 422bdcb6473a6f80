import { observedMessageBus } from '@bindery/telemetry/ports';
import { openTestPorts, type TestPorts, testRuntime } from '@bindery/testing/event-sourcing';
import { type RecordedSpan, recordingTelemetry } from '@bindery/testing/telemetry';
import { describe, expect, test } from '@jest/globals';
import { type BoardCommand, boardDocuments, boards, publicBoards, totals } from './fixtures/boards.ts';
import { type Reactor, reactorMetadata } from './index.ts';
import { METRIC } from './instruments.ts';

const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const nowOf =
  ({ clock }: TestPorts) =>
  (): number =>
    clock.now().getTime();
const linkTo = (span: RecordedSpan | undefined): string => `00-${span?.traceId}-${span?.spanId}-01`;

describe('seeing inside', () => {
  test('one request is one trace: append, projection, publication; what follows is linked', async () => {
    const telemetry = recordingTelemetry();
    const opened = await openTestPorts({ telemetry });
    const ports = { ...opened, bus: observedMessageBus(opened.bus, telemetry, 'embedded', nowOf(opened)) };
    const reactor: Reactor = {
      name: 'greeter',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      react: async (event) => {
        if (event.stream !== 'content.board-b1') return;
        await repository.handle('log', create, reactorMetadata(event, 'greeter', ports.clock));
      },
    };
    const { runtime, metadata, settled, stop } = await testRuntime({
      service: 'content',
      projections: [boardDocuments(), totals()],
      reactors: [reactor],
      publicMapping: publicBoards,
      ports,
    });
    const repository = runtime.repository(boards);
    await runtime.start();
    await repository.handle('b1', create, metadata());
    await settled();
    const traceparent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
    await repository.handle('b1', add('hello'), metadata({ traceparent }));
    await settled();
    await stop();
    await ports.remove();

    const { spans } = telemetry;
    const append = spans.find(({ parentId }) => parentId === '0123456789abcdef');
    expect(append).toMatchObject({ name: 'handle content.board', traceId: '0123456789abcdef0123456789abcdef' });
    const inline = spans.find(({ name, parentId }) => name === 'project content.board' && parentId === append?.spanId);
    expect(inline?.traceId).toBe(append?.traceId);
    const following = { kind: 'consumer', traceId: append?.traceId, parentId: append?.spanId, links: [linkTo(append)] };
    const named = (wanted: string) => spans.find(({ name, traceId }) => name === wanted && traceId === append?.traceId);
    expect(named('publish bindery.content.v1')).toMatchObject({
      ...following,
      kind: 'producer',
      attributes: {
        'messaging.system': 'embedded',
        'messaging.operation.type': 'send',
        'cloudevents.event_type': 'bindery.content.note.added.v1',
      },
    });
    expect(named('project content')).toMatchObject(following);
    expect(named('react content greeter')).toMatchObject(following);
    const react = named('react content greeter');
    const effect = spans.find(({ name, parentId }) => name === 'handle content.board' && parentId === react?.spanId);
    expect(effect?.traceId).toBe(react?.traceId);
    expect(spans.filter(({ failed }) => failed)).toEqual([]);
  });

  test('counts, times and gauges', async () => {
    const telemetry = recordingTelemetry();
    const ports = await openTestPorts({ telemetry });
    const opened = await testRuntime({
      service: 'content',
      projections: [totals()],
      publicMapping: publicBoards,
      ports,
    });
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    await repository.handle('b1', create, opened.metadata());
    await repository.handle('b1', add('x'), opened.metadata());
    await opened.settled();
    expect(telemetry.recorded(METRIC.append)).toBe(2);
    expect(telemetry.counted(METRIC.published, { service: 'content' })).toBe(1);
    expect(await telemetry.gauges(METRIC.projectionLag)).toEqual([
      { value: 0, labels: { service: 'content', projection: 'totals' } },
    ]);
    await opened.runtime.stop();
    ports.clock.advance(90_000);
    await ports.eventStore.append(
      'content.board-b1',
      [
        {
          id: crypto.randomUUID(),
          type: 'NoteAdded',
          data: { number: 2, text: 'late' },
          metadata: {
            correlationId: 'c',
            causationId: 'c',
            actor: { kind: 'user', id: 'u' },
            schemaVersion: 1,
            time: ports.clock.now().toISOString(),
          },
        },
      ],
      1,
    );
    ports.clock.advance(5000);
    const labels = { service: 'content', projection: 'totals' };
    expect(await telemetry.gauges(METRIC.projectionLag)).toEqual([{ value: 1, labels }]);
    expect(await telemetry.gauges(METRIC.projectionAge)).toEqual([{ value: 5, labels }]);
    expect(await telemetry.gauges(METRIC.publisherAge)).toEqual([
      { value: 5, labels: { service: 'content', publisher: 'publisher' } },
    ]);
    await ports.remove();
  });
});
