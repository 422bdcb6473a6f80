import type { EventData } from '@bindery/event-store';
import { openTestPorts, type TestPorts, type TestRuntime, testRuntime, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Board,
  type BoardCommand,
  type BoardDocument,
  type BoardEvent,
  boardDocuments,
  boards,
  boardsSpec,
  noteDocuments,
  notesSpec,
  totals,
  totalsSpec,
} from '../fixtures/boards.ts';
import { documentsOf } from '../fixtures/documents.ts';
import { FaultyEventStore, FaultyReadStore } from '../fixtures/faults.ts';
import type { Projection, Repository, RuntimeTuning } from '../index.ts';
import { checkpointsSpec } from './context.ts';

const specs = [boardsSpec, notesSpec, totalsSpec];
const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const rename = (title: string): BoardCommand => ({ type: 'RenameBoard', data: { title } });

type Opened = TestRuntime & { readonly repository: Repository<Board, BoardCommand, BoardEvent> };

describe('projections', () => {
  let ports: TestPorts;
  let readStore: FaultyReadStore;
  const running: TestRuntime[] = [];

  const open = async (
    projections?: readonly Projection[],
    start = true,
    tuning: Partial<RuntimeTuning> = {},
  ): Promise<Opened> => {
    const opened = await testRuntime({
      service: 'content',
      projections: projections ?? [boardDocuments(), noteDocuments(), totals()],
      ports: { ...ports, readStore },
      tuning,
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    if (start) await opened.runtime.start();
    return { ...opened, repository };
  };
  const stopAll = async (): Promise<void> => {
    for (const { stop } of running.splice(0)) await stop();
  };
  const board = async ({ runtime }: Opened, id: string): Promise<BoardDocument | undefined> =>
    (await runtime.live<BoardDocument>(boardsSpec).get(id))?.document;
  /** As another process would that dies before it projects. */
  const appendOnly = async (stream: string, revision: number, ...events: BoardEvent[]): Promise<void> => {
    const data = events.map(
      (event): EventData => ({
        ...event,
        id: crypto.randomUUID(),
        metadata: {
          correlationId: 'c',
          causationId: 'c',
          actor: { kind: 'user', id: 'u' },
          schemaVersion: 1,
          time: ports.clock.now().toISOString(),
        },
      }),
    );
    await ports.eventStore.append(stream, data, revision < 0 ? 'no-stream' : revision);
  };
  const note = (number: number, text: string): BoardEvent => ({ type: 'NoteAdded', data: { number, text } });

  beforeEach(async () => {
    ports = await openTestPorts();
    readStore = new FaultyReadStore(ports.readStore);
  });
  afterEach(async () => {
    readStore.down = false;
    await stopAll();
    await ports.remove();
  });

  test('a command’s own documents are there when it answers; views follow', async () => {
    const opened = await open();
    const { repository, metadata, runtime } = opened;
    await repository.handle('b1', create, metadata());
    const { position } = await repository.handle('b1', add('milk'), metadata());
    expect(await board(opened, 'b1')).toEqual({ title: 'Plans', titles: ['Plans'], notes: 1, lastNote: 'milk' });
    expect((await runtime.live(notesSpec).get('b1.1'))?.document).toEqual({ text: 'milk' });
    expect(await runtime.waitFor('totals', position, 5000)).toBe(true);
    expect((await runtime.live(totalsSpec).get('m'))?.document).toEqual({ count: 1, last: 'milk' });
    expect(await runtime.waitFor('totals', position + 1, 20)).toBe(false);
  });

  test('what a command has written is not written again by the runner', async () => {
    const { repository, metadata, settled } = await open([boardDocuments(), noteDocuments()]);
    await repository.handle('b1', create, metadata());
    for (let index = 0; index < 20; index += 1) await repository.handle('b1', add(`n${index}`), metadata());
    await settled();
    expect(readStore.written.get('content.boards')).toBe(21);
    expect(readStore.written.get('content.notes')).toBe(20);
  });

  test('a command succeeds while the read store is away; the runner makes it good', async () => {
    const opened = await open();
    const { repository, metadata, settled } = opened;
    await repository.handle('b1', create, metadata());
    await settled();
    readStore.down = true;
    await expect(repository.handle('b1', add('one'), metadata())).resolves.toMatchObject({ revision: 1 });
    await expect(repository.handle('b1', add('two'), metadata())).resolves.toMatchObject({ revision: 2 });
    expect((await board(opened, 'b1'))?.notes).toBe(0);
    readStore.down = false;
    await settled();
    expect(await board(opened, 'b1')).toMatchObject({ notes: 2, lastNote: 'two' });
  });

  test('a command that finds the read store away for a moment answers when its documents are there', async () => {
    const opened = await open([boardDocuments()], true, { projectWithinMs: 10_000 });
    const { repository, metadata, settled } = opened;
    await repository.handle('b1', create, metadata());
    await settled();
    readStore.down = true;
    let answered = false;
    const handled = repository.handle('b1', add('milk'), metadata()).then(() => {
      answered = true;
    });
    await until('it was tried again', async () => readStore.refused > 3);
    expect(answered).toBe(false);
    readStore.down = false;
    await handled;
    expect(await board(opened, 'b1')).toMatchObject({ notes: 1, lastNote: 'milk' });
  });

  test('a gap before a command’s own event is closed by the command', async () => {
    const opened = await open([boardDocuments(), noteDocuments()]);
    const { repository, metadata, runtime, settled } = opened;
    await repository.handle('b1', create, metadata());
    await settled();
    readStore.down = true;
    await repository.handle('b1', add('lost'), metadata());
    await repository.handle('b1', rename('Lost'), metadata());
    readStore.down = false;
    await repository.handle('b1', add('found'), metadata());
    expect(await board(opened, 'b1')).toEqual({
      title: 'Lost',
      titles: ['Plans', 'Lost'],
      notes: 2,
      lastNote: 'found',
    });
    expect((await runtime.live(notesSpec).get('b1.1'))?.document).toEqual({ text: 'lost' });
  });

  test('events of another process that has not projected them are projected first', async () => {
    const opened = await open([boardDocuments()]);
    await opened.repository.handle('b1', create, opened.metadata());
    readStore.refuse = (name) => name === 'content.checkpoints'; // holds the runner off
    await appendOnly('content.board-b1', 0, note(1, 'theirs'), { type: 'BoardTouched', data: {} });
    await opened.repository.handle('b1', add('ours'), opened.metadata());
    expect(await board(opened, 'b1')).toMatchObject({ notes: 2, lastNote: 'ours' });
    readStore.refuse = undefined;
  });

  test('repair brings the documents of one stream up to its end', async () => {
    const opened = await open([boardDocuments()]);
    await appendOnly('content.board-b9', -1, { type: 'BoardCreated', data: { title: 'Theirs' } }, note(1, 'x'));
    await opened.runtime.repair('content.board-b9');
    expect(await board(opened, 'b9')).toMatchObject({ title: 'Theirs', notes: 1 });
    await opened.runtime.repair('content.board-unknown');
  });

  test('a removed document stays away when its events are applied again', async () => {
    const opened = await open();
    const { repository, metadata, settled } = opened;
    await repository.handle('b1', create, metadata());
    await repository.handle('b1', { type: 'DeleteBoard', data: {} }, metadata());
    await settled();
    await stopAll();
    await ports.readStore.drop(checkpointsSpec('content'), 0);
    const again = await open();
    await again.settled();
    expect(await board(again, 'b1')).toBeUndefined();
  });

  test('applied again from the start, in other pages, nothing changes', async () => {
    const first = await open();
    for (const id of ['b1', 'b2', 'b3']) {
      await first.repository.handle(id, create, first.metadata());
      for (let index = 0; index < 7; index += 1)
        await first.repository.handle(id, add(`${id}${index}`), first.metadata());
      await first.repository.handle(id, rename(`${id}!`), first.metadata());
    }
    await first.settled();
    const before = await documentsOf(first.runtime, specs);
    await stopAll();
    await ports.readStore.drop(checkpointsSpec('content'), 0);
    const second = await open();
    await second.settled();
    expect(await documentsOf(second.runtime, specs)).toEqual(before);
    expect(before.length).toBe(3 + 21 + 1);
  });

  test('a runner that stops after any event goes on with the next one', async () => {
    const events: BoardEvent[] = [{ type: 'BoardCreated', data: { title: 'T' } }];
    for (let number = 1; number <= 9; number += 1)
      events.push(note(number, `${number}`), { type: 'BoardRenamed', data: { title: `t${number}` } });
    const seen: string[] = [];
    for (const [index, event] of events.entries()) {
      await appendOnly('content.board-b1', index - 1, event);
      const opened = await open([boardDocuments(), totals((text) => seen.push(text))]);
      await opened.settled();
      await stopAll();
    }
    expect(seen).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    const last = await open();
    expect(await board(last, 'b1')).toMatchObject({
      notes: 9,
      titles: ['T', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9'],
    });
  });

  test('subscriptions that drop, with an error or without, are taken up again without a gap or a repeat', async () => {
    const eventStore = new FaultyEventStore(ports.eventStore);
    eventStore.drops = true;
    const seen: string[] = [];
    const opened = await testRuntime({
      service: 'content',
      projections: [totals((text) => seen.push(text))],
      ports: { ...ports, readStore, eventStore },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    await repository.handle('b1', create, opened.metadata());
    const texts = Array.from({ length: 15 }, (_, index) => `n${index}`);
    for (const text of texts) {
      await repository.handle('b1', add(text), opened.metadata());
      await until('it is applied', () => seen.includes(text));
    }
    expect(seen).toEqual(texts);
    expect(eventStore.subscriptions).toBeGreaterThan(15);
    eventStore.drops = false;
    await opened.settled();
  });

  test('a projection that fails is named in the status; the others and the commands go on; later it catches up', async () => {
    let broken = true;
    const fragile = totals((text) => {
      if (broken && text === 'poison') throw new Error('cannot digest this');
    });
    const opened = await open([boardDocuments(), noteDocuments(), fragile]);
    const { repository, metadata, runtime, settled } = opened;
    const states = async () =>
      Object.fromEntries((await runtime.status()).projections.map(({ name, state }) => [name, state]));
    await repository.handle('b1', create, metadata());
    await repository.handle('b1', add('apple'), metadata());
    await repository.handle('b1', add('poison'), metadata());
    await until('the projection counts as failed', async () => (await states()).totals === 'failed');
    await repository.handle('b1', add('pear'), metadata());
    expect(await board(opened, 'b1')).toMatchObject({ notes: 3 });
    await until('the others are live', async () => (await states()).notes === 'live');
    const failed = (await runtime.status()).projections.find(({ name }) => name === 'totals');
    expect(failed?.error).toContain('NoteAdded (content.board-b1@2): Error: cannot digest this');
    expect(failed?.lag).toBe(2);
    expect((await runtime.live(totalsSpec).get('a'))?.document).toEqual({ count: 1, last: 'apple' });
    broken = false;
    await settled();
    expect((await runtime.live(totalsSpec).get('p'))?.document).toEqual({ count: 2, last: 'pear' });
  });

  test('an inline projection that fails on one stream goes on with the others', async () => {
    let broken = true;
    const whole = boardDocuments();
    const fragile: Projection = {
      ...whole,
      apply: (event, reader) => {
        if (broken && event.stream === 'content.board-bad') throw new Error('bad board');
        return whole.apply(event, reader);
      },
    };
    const opened = await open([fragile, noteDocuments()]);
    const { repository, metadata, settled, runtime } = opened;
    await repository.handle('bad', create, metadata());
    await until('it has failed', async () => (await runtime.status()).projections[0]?.state === 'failed');
    await repository.handle('good', create, metadata());
    await repository.handle('good', add('x'), metadata());
    await repository.handle('bad', add('y'), metadata());
    expect(await board(opened, 'good')).toMatchObject({ notes: 1 });
    expect((await runtime.live(notesSpec).get('bad.1'))?.document).toEqual({ text: 'y' });
    broken = false;
    await settled();
    expect(await board(opened, 'bad')).toMatchObject({ notes: 1, lastNote: 'y' });
  });

  test('a write that the store refuses holds up its own projection alone', async () => {
    readStore.refuse = (_name, id) => id === 'b1.2';
    const opened = await open();
    const { repository, metadata, runtime, settled } = opened;
    await repository.handle('b1', create, metadata());
    for (const text of ['a', 'b', 'c']) await repository.handle('b1', add(text), metadata());
    await until('the others have it all', async () => (await runtime.live(totalsSpec).count()) === 3);
    expect(await board(opened, 'b1')).toMatchObject({ notes: 3 });
    readStore.refuse = undefined;
    await settled();
    expect(await runtime.live(notesSpec).count()).toBe(3);
  });

  test('before the start and after the stop, commands and queries get 503', async () => {
    const { repository, metadata, runtime } = await open(undefined, false);
    expect(runtime.notReady()).toEqual(['content: starting']);
    await expect(repository.handle('b1', create, metadata())).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(runtime.live(boardsSpec).get('b1')).rejects.toMatchObject({ kind: 'unavailable' });
    await runtime.start();
    expect(runtime.notReady()).toEqual([]);
    await repository.handle('b1', create, metadata());
    await runtime.stop();
    await expect(repository.handle('b1', add('x'), metadata())).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('collections that no projection writes, and names used twice, are errors of the programmer', async () => {
    const { runtime } = await open();
    expect(() => runtime.live({ name: 'content.others', version: 1, indexes: [] })).toThrow(TypeError);
    await expect(open([boardDocuments(), boardDocuments()], false)).rejects.toThrow('occurs in two projections');
    expect(() => runtime.repository({ ...boards, name: 'content.white-board' })).toThrow(TypeError);
    expect(() => runtime.repository({ ...boards, name: 'identity.board' })).toThrow(TypeError);
  });
});
