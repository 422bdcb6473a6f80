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
import { FaultyReadStore } from '../fixtures/faults.ts';
import type { Projection, Repository } from '../index.ts';
import { Generations } from './generations.ts';

const specs = [boardsSpec, notesSpec, totalsSpec];
const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const rename = (title: string): BoardCommand => ({ type: 'RenameBoard', data: { title } });
const all = (): Projection[] => [boardDocuments(), noteDocuments(), totals()];

type Opened = TestRuntime & { readonly repository: Repository<Board, BoardCommand, BoardEvent> };

describe('a rebuild', () => {
  let ports: TestPorts;
  let readStore: FaultyReadStore;
  const running: TestRuntime[] = [];

  const open = async (projections = all(), rebuildChunk = 7): Promise<Opened> => {
    const opened = await testRuntime({
      service: 'content',
      projections,
      ports: { ...ports, readStore },
      tuning: { rebuildChunk },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    return { ...opened, repository };
  };
  const stopAll = async (): Promise<void> => {
    for (const { stop } of running.splice(0)) await stop();
  };
  const fill = async ({ repository, metadata }: Opened, count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const id = `b${index % 5}`;
      if (index < 5) await repository.handle(id, create, metadata());
      else if (index % 11 === 0) await repository.handle(id, { type: 'TouchBoard', data: {} }, metadata());
      else if (index % 7 === 0) await repository.handle(id, rename(`title ${index}`), metadata());
      else await repository.handle(id, { type: 'AddNotes', data: { texts: [`x${index}`, `y${index}`] } }, metadata());
    }
    await repository.handle('gone', create, metadata());
    await repository.handle('gone', { type: 'DeleteBoard', data: {} }, metadata());
  };

  beforeEach(async () => {
    ports = await openTestPorts();
    readStore = new FaultyReadStore(ports.readStore);
  });
  afterEach(async () => {
    readStore.down = false;
    readStore.refuse = undefined;
    await stopAll();
    await ports.remove();
  });

  test('every document is the same to the byte afterwards, revisions too', async () => {
    const opened = await open();
    await fill(opened, 60);
    await opened.settled();
    const before = await documentsOf(opened.runtime, specs);
    const { events } = await opened.runtime.rebuild();
    expect(events).toBe(await ports.eventStore.count());
    expect(await documentsOf(opened.runtime, specs)).toEqual(before);
    expect(before.length).toBeGreaterThan(90);
    await opened.settled();
    await stopAll();
    const restarted = await open();
    expect(await documentsOf(restarted.runtime, specs)).toEqual(before);
  });

  test('of one projection leaves the others alone; an unknown name is refused', async () => {
    const opened = await open();
    await fill(opened, 20);
    await opened.settled();
    const before = await documentsOf(opened.runtime, specs);
    readStore.written.clear();
    await opened.runtime.rebuild(['totals']);
    expect(readStore.written.has('content.boards')).toBe(false);
    expect(await documentsOf(opened.runtime, specs)).toEqual(before);
    await expect(opened.runtime.rebuild(['nothing'])).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('goes on beside writes: reads see every command’s effect throughout, nothing is lost', async () => {
    const opened = await open();
    const { repository, metadata, runtime } = opened;
    await fill(opened, 30);
    let over = false;
    let written = 0;
    const writer = async (id: string): Promise<void> => {
      await repository.handle(id, create, metadata());
      for (let notes = 1; !over; notes += 1) {
        await repository.handle(id, add(`w${notes}`), metadata());
        const document = (await runtime.live<BoardDocument>(boardsSpec).get(id))?.document;
        expect(document).toMatchObject({ notes, lastNote: `w${notes}` });
        written += 1;
      }
    };
    const writers = ['w1', 'w2', 'w3'].map(writer);
    for (let round = 0; round < 4; round += 1) await runtime.rebuild();
    over = true;
    await Promise.all(writers);
    expect(written).toBeGreaterThan(10);
    await opened.settled();
    const before = await documentsOf(runtime, specs);
    await runtime.rebuild();
    expect(await documentsOf(runtime, specs)).toEqual(before);
  });

  test('one at a time', async () => {
    const opened = await open();
    await fill(opened, 10);
    const [one, two] = await Promise.allSettled([opened.runtime.rebuild(), opened.runtime.rebuild()]);
    expect(one).toMatchObject({ status: 'fulfilled' });
    expect(two).toMatchObject({ status: 'rejected', reason: { kind: 'conflict', code: 'projections.rebuilding' } });
  });

  test('that fails leaves everything as it was', async () => {
    const opened = await open();
    await fill(opened, 20);
    await opened.settled();
    const before = await documentsOf(opened.runtime, specs);
    readStore.refuse = (_name, id) => id === 'b3.1';
    await expect(opened.runtime.rebuild()).rejects.toThrow('notes fails at NoteAdded');
    readStore.refuse = undefined;
    expect(await documentsOf(opened.runtime, specs)).toEqual(before);
    await opened.repository.handle('b1', add('after'), opened.metadata());
    const { pointer } = await Generations.open('content', ports.readStore, all());
    expect(pointer).toMatchObject({ building: null, stale: [] });
  });

  test('a generation that a killed process has left half-built is dropped at the next start', async () => {
    const opened = await open();
    await fill(opened, 10);
    await opened.settled();
    const before = await documentsOf(opened.runtime, specs);
    await stopAll();
    const generations = await Generations.open('content', ports.readStore, all());
    const half = await generations.begin(all());
    const left = await ports.readStore.collection<object>(boardsSpec, half);
    await left.put('b1', 5, { half: true });
    const restarted = await open();
    expect(await documentsOf(restarted.runtime, specs)).toEqual(before);
    expect((await Generations.open('content', ports.readStore, all())).pointer).toMatchObject({
      building: null,
      stale: [],
    });
    expect(await (await ports.readStore.collection(boardsSpec, half)).count()).toBe(0);
  });

  test('the replaced generation is dropped after a while', async () => {
    const opened = await open();
    await fill(opened, 10);
    const { pointer } = await Generations.open('content', ports.readStore, all());
    const old = pointer.live.boards?.generation ?? -1;
    await opened.runtime.rebuild();
    await until('it is dropped', async () => {
      const now = await Generations.open('content', ports.readStore, all());
      return now.pointer.stale.length === 0;
    });
    expect(await (await ports.readStore.collection(boardsSpec, old)).count()).toBe(0);
  });

  test('happens by itself when a collection has a new version, or a projection is new', async () => {
    const opened = await open([boardDocuments(), noteDocuments()]);
    await fill(opened, 20);
    await opened.settled();
    const before = await documentsOf(opened.runtime, [boardsSpec]);
    await stopAll();
    const newer = { ...boardsSpec, version: 2 };
    const upgraded = await open([boardDocuments(newer), noteDocuments(), totals()]);
    expect(await documentsOf(upgraded.runtime, [newer])).toEqual(before);
    expect(await upgraded.runtime.live(totalsSpec).count()).toBe(2);
  });

  test('a projection that fails in the rebuild of a start is failed, and the service serves the others', async () => {
    const first = await open([boardDocuments()]);
    await fill(first, 20);
    await first.settled();
    await stopAll();
    let broken = true;
    const fragile = totals((text) => {
      if (broken && text === 'y9') throw new Error('not this one');
    });
    const second = await open([boardDocuments(), fragile]);
    await until('it counts as failed', async () => (await second.runtime.status()).projections[1]?.state === 'failed');
    expect(await second.runtime.live(boardsSpec).count()).toBe(5);
    expect(second.runtime.notReady()).toEqual([]);
    broken = false;
    await second.settled();
    await second.runtime.rebuild();
    expect(await second.runtime.live(totalsSpec).count()).toBe(2);
  });

  test('other processes follow the switch', async () => {
    const one = await open();
    const two = await open();
    await fill(one, 20);
    await two.repository.handle('b1', add('before'), two.metadata());
    await one.runtime.rebuild();
    for (let index = 0; index < 20; index += 1) {
      const writer = index % 2 === 0 ? one : two;
      await writer.repository.handle('b2', add(`n${index}`), writer.metadata());
    }
    await until('the old generation is dropped', async () => {
      const { pointer } = await Generations.open('content', ports.readStore, all());
      return pointer.stale.length === 0;
    });
    await two.repository.handle('b2', add('last'), two.metadata());
    await one.settled();
    await two.settled();
    const seen = await documentsOf(two.runtime, specs);
    expect(seen).toEqual(await documentsOf(one.runtime, specs));
    await one.runtime.rebuild();
    expect(await documentsOf(one.runtime, specs)).toEqual(seen);
  });
});
