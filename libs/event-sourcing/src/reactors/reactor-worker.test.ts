import { openTestPorts, type TestPorts, type TestRuntime, testRuntime, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Board, type BoardCommand, type BoardEvent, boards } from '../fixtures/boards.ts';
import {
  aggregateIdOf,
  type DomainEvent,
  type Reactor,
  type Recorded,
  type Repository,
  reactorMetadata,
} from '../index.ts';

const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });

type Opened = TestRuntime & { readonly repository: Repository<Board, BoardCommand, BoardEvent> };
type React = (event: Recorded<DomainEvent>, repository: Repository<Board, BoardCommand, BoardEvent>) => Promise<void>;

describe('a reactor', () => {
  let ports: TestPorts;
  const running: TestRuntime[] = [];

  const open = async (react: React, from: 'beginning' | 'end' = 'beginning', reactionMs = 5000): Promise<Opened> => {
    const reactor: Reactor = {
      name: 'copier',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      from,
      react: (event) => react(event, repository),
    };
    const opened = await testRuntime({
      service: 'content',
      projections: [],
      reactors: [reactor],
      ports,
      tuning: { reactionMs },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    return { ...opened, repository };
  };
  const stopAll = async (): Promise<void> => {
    for (const { stop } of running.splice(0)) await stop();
  };
  const textOf = (event: Recorded<DomainEvent>): string => Object(event.data).text;
  /** Copies notes of boards into a board `log`. */
  const copy: React = async (event, repository) => {
    if (event.stream === 'content.board-log') return;
    const metadata = reactorMetadata(event, 'copier', ports.clock);
    await repository.handle('log', add(`${aggregateIdOf(event.stream)}:${textOf(event)}`), metadata);
  };
  const logged = async (): Promise<string[]> => {
    const texts: string[] = [];
    for await (const event of ports.eventStore.readStream('content.board-log'))
      if (event.type === 'NoteAdded') texts.push(Object(event.data).text);
    return texts;
  };
  const begin = async (react: React, ids = ['b1', 'b2']): Promise<Opened> => {
    const opened = await open(react);
    for (const id of ['log', ...ids]) await opened.repository.handle(id, create, opened.metadata());
    return opened;
  };
  const ofBoard = (texts: readonly string[], id: string): string[] => texts.filter((text) => text.startsWith(`${id}:`));

  beforeEach(async () => {
    ports = await openTestPorts();
  });
  afterEach(async () => {
    await stopAll();
    await ports.remove();
  });

  test('reacts to each event, in order per stream', async () => {
    const opened = await begin(copy);
    for (let index = 0; index < 8; index += 1)
      for (const id of ['b1', 'b2']) await opened.repository.handle(id, add(`n${index}`), opened.metadata());
    await opened.settled();
    const texts = await logged();
    for (const id of ['b1', 'b2'])
      expect(ofBoard(texts, id)).toEqual(Array.from({ length: 8 }, (_, i) => `${id}:n${i}`));
    const { reactors } = await opened.runtime.status();
    expect(reactors).toMatchObject([{ name: 'copier', lag: 0, state: 'live', parked: [] }]);
  });

  test('reacting again after its position is lost writes nothing twice', async () => {
    const opened = await begin(copy);
    for (const text of ['a', 'b', 'c']) await opened.repository.handle('b1', add(text), opened.metadata());
    await opened.settled();
    await stopAll();
    await ports.readStore.drop({ name: 'content.workers', version: 1, indexes: [] }, 0);
    const again = await open(copy);
    await again.settled();
    expect(await logged()).toEqual(['b1:a', 'b1:b', 'b1:c']);
  });

  test('a stream whose event fails is parked and shows; others go on; released, it continues in order', async () => {
    let broken = true;
    const opened = await begin(async (event, repository) => {
      if (broken && textOf(event) === 'poison') throw new Error('not now');
      await copy(event, repository);
    });
    const { repository, metadata, runtime } = opened;
    for (const text of ['one', 'poison', 'three']) await repository.handle('b1', add(text), metadata());
    const parked = async () => (await runtime.status()).reactors?.[0]?.parked ?? [];
    await until('it is parked', async () => (await parked()).length === 1);
    expect(await parked()).toEqual([
      { stream: 'content.board-b1', reason: 'Error: not now', since: '2026-03-01T12:00:00.000Z' },
    ]);
    await repository.handle('b2', add('other'), metadata());
    await repository.handle('b1', add('four'), metadata());
    await until('the other one is handled', async () => (await logged()).includes('b2:other'));
    expect(ofBoard(await logged(), 'b1')).toEqual(['b1:one']);
    broken = false;
    await until('it is released', async () => (await parked()).length === 0);
    await opened.settled();
    await repository.handle('b1', add('five'), metadata());
    await opened.settled();
    expect(ofBoard(await logged(), 'b1')).toEqual(['b1:one', 'b1:poison', 'b1:three', 'b1:four', 'b1:five']);
  });

  test('what is parked outlives a restart', async () => {
    const failing = await begin(async (event, repository) => {
      if (textOf(event) === 'poison') throw new Error('not now');
      await copy(event, repository);
    });
    for (const text of ['poison', 'two']) await failing.repository.handle('b1', add(text), failing.metadata());
    await until('it is parked', async () => (await failing.runtime.status()).reactors?.[0]?.parked.length === 1);
    await failing.settled();
    await stopAll();
    expect(await logged()).toEqual([]);
    const repaired = await open(copy);
    await until('it is handled', async () => (await logged()).length === 2);
    expect(await logged()).toEqual(['b1:poison', 'b1:two']);
    expect((await repaired.runtime.status()).reactors?.[0]?.parked).toEqual([]);
  });

  test('an operator sees parked streams from any process and has them tried at once', async () => {
    let broken = true;
    const reactor = (react: React): Reactor => ({
      name: 'copier',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      react: (event) => react(event, repository),
    });
    const options = { service: 'content', projections: [], ports };
    // Long waits: what is seen to happen, happens because somebody asked.
    const tuning = { failuresUntilAlarm: 1, backoffMs: 600_000, maxBackoffMs: 600_000, wishPollMs: 10 };
    const poisoned: React = async (event, boardsOf) => {
      if (broken && textOf(event) === 'poison') throw new Error('not now');
      await copy(event, boardsOf);
    };
    const opened = await testRuntime({ ...options, reactors: [reactor(poisoned)], tuning });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    const other = await testRuntime({ ...options, reactors: [reactor(poisoned)], tuning });
    running.push(other);
    other.runtime.repository(boards);
    await other.runtime.start();
    for (const id of ['log', 'b1', 'b2', 'b3']) await repository.handle(id, create, opened.metadata());
    for (const id of ['b1', 'b2', 'b3'])
      for (const text of ['one', 'poison', 'three']) await repository.handle(id, add(text), opened.metadata());
    const seen = () => other.runtime.parkedStreams.list({ limit: 10 });
    await until('three wait', async () => (await seen()).length === 3);
    const streams = ['b1', 'b2', 'b3'].map((id) => `content.board-${id}`);
    expect((await seen()).map(({ stream }) => stream)).toEqual(streams);
    expect(await other.runtime.parkedStreams.list({ reactor: 'copier', limit: 2 })).toMatchObject([
      { stream: streams[0], reason: 'Error: not now', attempts: 1, revision: 2 },
      { stream: streams[1] },
    ]);
    const [after] = await seen();
    expect(await other.runtime.parkedStreams.list({ limit: 10, ...(after && { after }) })).toHaveLength(2);
    expect(await other.runtime.parkedStreams.list({ reactor: 'nobody', limit: 10 })).toEqual([]);

    const retry = (runtime: TestRuntime, id: string) =>
      runtime.runtime.parkedStreams.retry({ reactor: 'copier', stream: `content.board-${id}`, waitMs: 5000 });
    expect(await retry(other, 'b1')).toMatchObject({ attempts: 2, reason: 'Error: not now' });
    broken = false;
    for (const runtime of [opened, other]) expect(await retry(runtime, runtime === opened ? 'b1' : 'b2')).toBeNull();
    expect((await seen()).map(({ stream, attempts }) => [stream, attempts])).toEqual([[streams[2], 1]]);
    const texts = await logged();
    for (const id of ['b1', 'b2']) expect(ofBoard(texts, id)).toEqual([`${id}:one`, `${id}:poison`, `${id}:three`]);
    expect(await retry(other, 'nobody')).toBeNull();
  });

  test('one that is asked for while it is tried is tried once more at once', async () => {
    const tries: PromiseWithResolvers<void>[] = [];
    const reactor: Reactor = {
      name: 'copier',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      react: () => {
        const attempt = Promise.withResolvers<void>();
        tries.push(attempt);
        return attempt.promise;
      },
    };
    // Long waits: without the second wish the third try would come in ten minutes.
    const tuning = { failuresUntilAlarm: 1, backoffMs: 600_000, maxBackoffMs: 600_000, wishPollMs: 10 };
    const opened = await testRuntime({ service: 'content', projections: [], reactors: [reactor], ports, tuning });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    await repository.handle('b1', create, opened.metadata());
    await repository.handle('b1', add('one'), opened.metadata());
    const tried = (count: number) => until(`try ${count}`, async () => tries.length === count);
    const ask = () =>
      opened.runtime.parkedStreams.retry({ reactor: 'copier', stream: 'content.board-b1', waitMs: 10_000 });
    await tried(1);
    tries[0]?.reject(new Error('not now'));
    await until('it waits', async () => (await opened.runtime.parkedStreams.list({ limit: 1 })).length === 1);
    const first = ask();
    await tried(2);
    const second = ask();
    const wishes = await ports.readStore.collection({ name: 'content.parked-retries', version: 1, indexes: [] });
    await until('the wish is taken', async () => (await wishes.query({ limit: 1 })).length === 0);
    tries[1]?.reject(new Error('not yet'));
    await tried(3);
    tries[2]?.resolve();
    await Promise.all([first, second]);
    await until('it is free', async () => (await opened.runtime.parkedStreams.list({ limit: 1 })).length === 0);
  });

  test('one that does not come back is given up after a while', async () => {
    const signals: AbortSignal[] = [];
    const reactor: Reactor = {
      name: 'sleeper',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      react: (_event, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    };
    const opened = await testRuntime({
      service: 'content',
      projections: [],
      reactors: [reactor],
      ports,
      tuning: { reactionMs: 20 },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    await repository.handle('b1', create, opened.metadata());
    await repository.handle('b1', add('x'), opened.metadata());
    await until('it is parked', async () => (await opened.runtime.status()).reactors?.[0]?.parked.length === 1);
    expect((await opened.runtime.status()).reactors?.[0]?.parked[0]?.reason).toContain('no reaction within 20 ms');
    expect(signals.every(({ aborted }) => aborted) || signals.length > 3).toBe(true);
  });

  test('a new one may start at the end of the log', async () => {
    const first = await begin(copy);
    await first.repository.handle('b1', add('old'), first.metadata());
    await first.settled();
    await stopAll();
    await ports.readStore.drop({ name: 'content.workers', version: 1, indexes: [] }, 0);
    const seen: string[] = [];
    const late = await open(async (event) => {
      seen.push(textOf(event));
    }, 'end');
    await until('it has started', async () => (await late.runtime.status()).reactors?.[0]?.state === 'live');
    await late.repository.handle('b1', add('new'), late.metadata());
    await late.settled();
    expect(seen).toEqual(['new']);
  });
});
