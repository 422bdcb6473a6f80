import { EventStoreUnavailable } from '@bindery/event-store';
import { openTestPorts, type TestPorts, type TestRuntime, testRuntime } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Board,
  type BoardCommand,
  type BoardEvent,
  boardDocuments,
  boards,
  boardsSpec,
} from '../fixtures/boards.ts';
import { FaultyEventStore } from '../fixtures/faults.ts';
import type { CommandMetadata, Repository, RuntimeTuning } from '../index.ts';

const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const numbers = (events: readonly BoardEvent[]): number[] =>
  events.flatMap((event) => (event.type === 'NoteAdded' ? [event.data.number] : []));

describe('a repository', () => {
  let ports: TestPorts;
  let store: FaultyEventStore;
  const running: TestRuntime[] = [];

  const open = async (
    tuning: Partial<RuntimeTuning> = {},
  ): Promise<TestRuntime & { repository: Repository<Board, BoardCommand, BoardEvent> }> => {
    const opened = await testRuntime({
      service: 'content',
      projections: [boardDocuments()],
      tuning,
      ports: { ...ports, eventStore: store },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    return { ...opened, repository };
  };
  const storedEvents = async (): Promise<BoardEvent[]> => {
    const events: BoardEvent[] = [];
    for await (const event of ports.eventStore.readAll()) events.push(event as unknown as BoardEvent);
    return events;
  };

  beforeEach(async () => {
    ports = await openTestPorts();
    store = new FaultyEventStore(ports.eventStore);
  });
  afterEach(async () => {
    for (const { stop } of running.splice(0)) await stop();
    await ports.remove();
  });

  test('what is too much for one append is said to be so; commands that are too much together go one by one', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    await new Promise(setImmediate);
    const gate = Promise.withResolvers<void>();
    store.hold = gate.promise;
    const first = repository.handle('b1', add('first'), metadata());
    const texts = ['x'.repeat(8_000_000), 'y'.repeat(8_000_000)];
    const [large, tooLarge, alsoLarge, small] = [texts[0], 'z'.repeat(15_000_001), texts[1], 'small'].map((text = '') =>
      repository.handle('b1', add(text), metadata()),
    );
    const refused = expect(tooLarge).rejects.toMatchObject({ kind: 'invalid', code: 'aggregate.change_too_large' });
    gate.resolve();
    await Promise.all([first, large, refused, alsoLarge, small]);
    const notes = (await storedEvents()).flatMap((event) => (event.type === 'NoteAdded' ? [event.data.text] : []));
    expect(notes).toEqual(['first', ...texts, 'small']);
  });

  test('20 writers on one stream: no lost update, and one append for all that wait', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    await new Promise(setImmediate); // its turn is over
    store.appends = 0;
    const gate = Promise.withResolvers<void>();
    store.hold = gate.promise;
    const handled = Array.from({ length: 20 }, (_, index) => repository.handle('b1', add(`n${index}`), metadata()));
    await new Promise(setImmediate);
    gate.resolve();
    const results = await Promise.all(handled);
    expect(store.appends).toBe(2); // the first, and the 19 that queued meanwhile
    expect(results.flatMap(({ events }) => numbers(events))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(results.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(new Set((await storedEvents()).map((event) => JSON.stringify(event))).size).toBe(21);
  });

  test('a stream that is likely new is not looked for; where it does exist, the command is decided on what is there', async () => {
    const first = await open();
    const second = await open();
    const likelyNew = { likelyNew: true };
    const created = await first.repository.handle('b1', create, first.metadata(), likelyNew);
    expect(created.revision).toBe(0);
    expect(first.repository.known('b1')).toEqual(created.state);
    expect(second.repository.known('b1')).toBeUndefined();
    // Refused on the presumed state, without an append that would find out.
    const added = await second.repository.handle('b1', add('one'), second.metadata(), likelyNew);
    expect([added.revision, numbers(added.events)]).toEqual([1, [1]]);
    // Decided on it, the append finds out.
    const third = await open();
    const repeated = await third.repository.handle('b1', create, third.metadata(), likelyNew);
    expect([repeated.revision, repeated.events]).toEqual([1, []]);
    expect(await storedEvents()).toHaveLength(2);
  });

  test('a command repeated long after the first time is recognised, alone and beside others', async () => {
    const { repository, metadata } = await open();
    const seed = { eventId: () => '0197a3b2-c4d5-7111-8111-111111111111' };
    await repository.handle('b1', create, metadata());
    const first = await repository.handle('b1', add('first'), metadata(seed));
    const texts = Array.from({ length: 150 }, (_, index) => `n${index}`);
    await repository.handle('b1', { type: 'AddNotes', data: { texts } }, metadata());
    const alone = await repository.handle('b1', add('first'), metadata(seed));
    expect([numbers(alone.events), alone.revision]).toEqual([numbers(first.events), 151]);
    const results = await Promise.all([
      repository.handle('b1', add('a'), metadata()),
      repository.handle('b1', add('b'), metadata()),
      repository.handle('b1', add('first'), metadata(seed)),
      repository.handle('b1', add('c'), metadata()),
    ]);
    expect(results.map(({ events }) => numbers(events))).toEqual([[152], [153], [1], [154]]);
    expect(await storedEvents()).toHaveLength(155);
  });

  test('a refusal in a batch concerns its own command alone; one without events answers with the state', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    const [one, refused, nothing, two] = await Promise.allSettled([
      repository.handle('b1', add('one'), metadata()),
      repository.handle('b1', add(''), metadata()),
      repository.handle('b1', { type: 'RenameBoard', data: { title: 'Plans' } }, metadata()),
      repository.handle('b1', add('two'), metadata()),
    ]);
    expect(one).toMatchObject({ status: 'fulfilled', value: { revision: 1 } });
    expect(refused).toMatchObject({ status: 'rejected', reason: { kind: 'conflict', code: 'note.empty' } });
    expect(nothing).toMatchObject({ status: 'fulfilled', value: { revision: 1, events: [], state: { notes: 1 } } });
    expect(two).toMatchObject({ status: 'fulfilled', value: { revision: 2, state: { notes: 2 } } });
  });

  test('two processes on one stream: conflicts are decided again, nothing is lost', async () => {
    const one = await open();
    const two = await open();
    await one.repository.handle('b1', create, one.metadata());
    const writes = Array.from({ length: 30 }, (_, index) => {
      const { repository, metadata } = index % 2 === 0 ? one : two;
      return repository.handle('b1', add(`n${index}`), metadata());
    });
    await Promise.all(writes);
    expect(numbers(await storedEvents())).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    const document = await one.runtime.live<{ notes: number }>(boardsSpec).get('b1');
    expect(document).toMatchObject({ revision: 30, document: { notes: 30 } });
  });

  test('gives up after so many conflicts, with 409', async () => {
    const { repository, metadata } = await open({ maxAttempts: 3 });
    store.script.push('conflict', 'conflict', 'conflict');
    await expect(repository.handle('b1', create, metadata())).rejects.toMatchObject({
      kind: 'conflict',
      code: 'aggregate.busy',
    });
    expect(store.appends).toBe(3);
    await expect(repository.handle('b1', create, metadata())).resolves.toMatchObject({ revision: 0 });
  });

  test.each(['commit-then-unavailable', 'commit-then-conflict'] as const)(
    'an append that was made and whose answer was lost (%s) is made once',
    async (fault) => {
      const { repository, metadata, runtime } = await open();
      await repository.handle('b1', create, metadata());
      store.script.push(fault);
      await expect(repository.handle('b1', add('once'), metadata())).resolves.toMatchObject({ revision: 1 });
      expect(numbers(await storedEvents())).toEqual([1]);
      expect(await runtime.live(boardsSpec).get('b1')).toMatchObject({ document: { notes: 1, lastNote: 'once' } });
    },
  );

  test('while the event store is away commands get 503 with a time to come back', async () => {
    const { repository, metadata } = await open();
    store.script.push('unavailable', 'unavailable', 'unavailable');
    await expect(repository.handle('b1', create, metadata())).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfter: 2,
      cause: expect.any(EventStoreUnavailable),
    });
    expect(await storedEvents()).toEqual([]);
  });

  test('a repeated create answers as the first time; another one is refused', async () => {
    const { repository, metadata } = await open();
    const same = (): CommandMetadata => metadata({ eventId: () => '11111111-1111-4111-8111-111111111111' });
    const first = await repository.handle('b1', create, same(), { create: true });
    await repository.handle('b1', add('later'), metadata());
    const again = await repository.handle('b1', create, same(), { create: true });
    expect(again.events).toEqual(first.events);
    expect(again).toMatchObject({ revision: 1, state: { title: 'Plans', notes: 1 } });
    await expect(repository.handle('b1', create, metadata(), { create: true })).rejects.toMatchObject({
      code: 'aggregate.exists',
    });
    const restarted = await open();
    for (let note = 0; note < 120; note += 1) await restarted.repository.handle('b1', add('more'), metadata());
    const muchLater = await restarted.repository.handle('b1', create, same(), { create: true });
    expect(muchLater.events.map(({ id }) => id)).toEqual(first.events.map(({ id }) => id));
  });

  test('a repeated command with several events is recognised by its ids, also in another process', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    const command: BoardCommand = { type: 'AddNotes', data: { texts: ['a', 'b', 'c'] } };
    const same = (): CommandMetadata => metadata({ eventId: () => '22222222-2222-4222-8222-222222222222' });
    const twins = await Promise.all([
      repository.handle('b1', command, same()),
      repository.handle('b1', command, same()),
    ]);
    const other = await (await open()).repository.handle('b1', command, same());
    expect(numbers(await storedEvents())).toEqual([1, 2, 3]);
    for (const { events } of [...twins, other]) expect(numbers(events)).toEqual([1, 2, 3]);
  });

  test('an expected revision that is not the stream’s is refused with 412', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    await repository.handle('b1', add('one'), metadata(), { expectedRevision: 0 });
    await expect(repository.handle('b1', add('two'), metadata(), { expectedRevision: 0 })).rejects.toMatchObject({
      kind: 'precondition',
    });
    expect(numbers(await storedEvents())).toEqual([1]);
  });

  test('the command may be made from the state, on every attempt anew', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    const result = await repository.handle('b1', (state, revision) => add(`${state.title} ${revision}`), metadata());
    expect(result.events).toMatchObject([{ data: { text: 'Plans 0' } }]);
  });

  test('a queue that is full answers 503', async () => {
    const { repository, metadata } = await open({ queuedCommands: 3 });
    await repository.handle('b1', create, metadata());
    await new Promise(setImmediate); // its turn is over
    const gate = Promise.withResolvers<void>();
    store.hold = gate.promise;
    const handled = Array.from({ length: 6 }, (_, index) => repository.handle('b1', add(`n${index}`), metadata()));
    gate.resolve();
    const outcomes = await Promise.allSettled(handled);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({ reason: { kind: 'unavailable', code: 'aggregate.overloaded' } });
    expect(numbers(await storedEvents())).toEqual([1, 2, 3]);
  });

  test('reads only what is new of a cached stream, and all of one that the cache has let go', async () => {
    const { repository, metadata } = await open({ cachedStreams: 1 });
    await repository.handle('b1', create, metadata());
    await repository.handle('b1', add('one'), metadata());
    store.reads.length = 0;
    expect((await repository.load('b1')).state.notes).toBe(1);
    expect(store.reads).toEqual([2]);
    await repository.handle('b2', create, metadata());
    store.reads.length = 0;
    expect((await repository.load('b1')).state.notes).toBe(1);
    expect(store.reads).toEqual([0]);
  });

  test('an event that is not JSON is refused and leaves the others alone', async () => {
    const { repository, metadata } = await open();
    await repository.handle('b1', create, metadata());
    const cyclic: { text: string; self?: unknown } = { text: 'x' };
    cyclic.self = cyclic;
    const bad = { type: 'RenameBoard', data: { title: 'x', cyclic } } as BoardCommand;
    const [refused, good] = await Promise.allSettled([
      repository.handle('b1', bad, metadata()),
      repository.handle('b1', add('good'), metadata()),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
    expect(good).toMatchObject({ status: 'fulfilled' });
  });
});
