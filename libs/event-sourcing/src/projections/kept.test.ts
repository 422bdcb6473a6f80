import { seededRandom } from '@bindery/testing';
import { openTestPorts, type TestPorts, type TestRuntime, testRuntime } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type BoardCommand, type BoardDocument, boardDocuments, boards, boardsSpec } from '../fixtures/boards.ts';
import { FaultyReadStore } from '../fixtures/faults.ts';
import { KeptDocuments } from './kept.ts';

const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });

test('documents are those before the next event and no other, and never of an older revision', () => {
  const kept = new KeptDocuments();
  const at = (revision: number) => new Map([['boards\nb1', { revision, document: revision }]]);
  kept.keep('s', 3, at(3));
  expect([2, 3, 4, 5].map((revision) => kept.before('s', revision)?.size)).toEqual([
    undefined,
    undefined,
    1,
    undefined,
  ]);
  kept.keep('s', 2, at(2));
  expect(kept.before('s', 4)).toEqual(at(3));
  kept.keep('s', 5, at(7)); // read when another process had written more
  expect(kept.before('s', 6)?.size).toBe(0);
});

test('large documents are not kept, whatever they are made of: a thousand of them would fill the memory', () => {
  const kept = new KeptDocuments();
  const keeps = (...documents: unknown[]): boolean => {
    kept.keep('s', at, new Map(documents.map((document, n) => [`boards\nb${n}`, { revision: at, document }])));
    at += 1;
    return kept.before('s', at) !== undefined;
  };
  let at = 1;
  const text = (length: number): string => 'x'.repeat(length);
  expect(keeps({ title: text(1000), list: Array.from({ length: 100 }, (_, n) => ({ n })) }, undefined, null)).toBe(
    true,
  );
  expect(keeps({ title: text(20_000) })).toBe(false);
  expect(keeps(text(10_000))).toBe(true);
  expect(keeps(text(10_000), text(10_000))).toBe(false);
  expect(keeps({ deep: { deeper: [text(10_000), text(7000)] } })).toBe(false);
  expect(keeps(Array.from({ length: 5000 }, () => 1))).toBe(false);
  expect(keeps({ [text(20_000)]: 1 })).toBe(false);
});

describe('documents that commands keep', () => {
  let ports: TestPorts;
  const running: TestRuntime[] = [];

  const open = async () => {
    const readStore = new FaultyReadStore(ports.readStore);
    const opened = await testRuntime({
      service: 'content',
      projections: [boardDocuments()],
      ports: { ...ports, readStore },
    });
    running.push(opened);
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    const handle = (command: BoardCommand) => repository.handle('b1', command, opened.metadata());
    return { ...opened, readStore, handle };
  };

  beforeEach(async () => {
    ports = await openTestPorts();
  });
  afterEach(async () => {
    for (const { stop } of running.splice(0)) await stop();
    await ports.remove();
  });

  test('are not read again by the next one', async () => {
    const { handle, readStore, runtime } = await open();
    await handle(create);
    await handle(add('first'));
    const before = readStore.asked.get(boardsSpec.name) ?? 0;
    for (let index = 0; index < 10; index += 1) await handle(add(`n${index}`));
    expect(readStore.asked.get(boardsSpec.name)).toBe(before);
    await runtime.rebuild();
    await handle(add('rebuilt'));
    const found = await runtime.live<BoardDocument>(boardsSpec).get('b1');
    expect(found?.document).toMatchObject({ notes: 12, lastNote: 'rebuilt' });
  });

  test('are right however two processes take turns and whatever they fail to write', async () => {
    const random = seededRandom(7);
    const processes = [await open(), await open()];
    await processes[0]?.handle(create);
    for (let index = 1; index <= 150; index += 1) {
      const writer = processes[random.next() < 0.7 ? 0 : 1];
      if (writer === undefined) throw new Error('there are two');
      writer.readStore.down = random.next() < 0.2;
      await writer.handle(random.next() < 0.1 ? { type: 'TouchBoard', data: {} } : add(`n${index}`));
      writer.readStore.down = false;
    }
    for (const { settled } of processes) await settled();
    const events: string[] = [];
    for await (const { type } of ports.eventStore.readStream('content.board-b1')) events.push(type);
    const found = await processes[0]?.runtime.live<BoardDocument>(boardsSpec).get('b1');
    expect(found?.document.notes).toBe(events.filter((type) => type === 'NoteAdded').length);
  });
});
