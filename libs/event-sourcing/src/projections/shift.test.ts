import { openTestPorts, type TestPorts, type TestRuntime, testRuntime, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Board,
  type BoardCommand,
  type BoardEvent,
  boardDocuments,
  boards,
  boardsSpec,
  noteDocuments,
  totals,
  totalsSpec,
} from '../fixtures/boards.ts';
import { FaultyReadStore } from '../fixtures/faults.ts';
import type { Repository } from '../index.ts';

type Process = TestRuntime & {
  readonly repository: Repository<Board, BoardCommand, BoardEvent>;
  readonly store: FaultyReadStore;
};
const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });

describe('several processes of a service', () => {
  let ports: TestPorts;
  const running = new Set<Process>();

  const open = async (): Promise<Process> => {
    const store = new FaultyReadStore(ports.readStore);
    const opened = await testRuntime({
      service: 'content',
      projections: [boardDocuments(), noteDocuments(), totals()],
      ports: { ...ports, readStore: store },
      tuning: { leaseMs: 300 },
    });
    const repository = opened.runtime.repository(boards);
    await opened.runtime.start();
    const process = { ...opened, repository, store };
    running.add(process);
    return process;
  };
  const end = async (process: Process): Promise<void> => {
    running.delete(process);
    await process.stop();
  };
  const total = async ({ runtime }: Process) => Object((await runtime.live(totalsSpec).get('m'))?.document).count;

  beforeEach(async () => {
    ports = await openTestPorts();
  });
  afterEach(async () => {
    for (const process of [...running]) await end(process);
    await ports.remove();
  });

  test('one writes the views, every one sees them and can wait for them', async () => {
    const [one, two] = [await open(), await open()];
    expect(two.runtime.notReady()).toEqual([]);
    await one.repository.handle('b1', create, one.metadata());
    const { position } = await two.repository.handle('b1', add('milk'), two.metadata());
    expect(await two.runtime.waitFor('totals', position, 5000)).toBe(true);
    expect(await total(two)).toBe(1);
    expect(await one.runtime.waitFor('totals', position, 5000)).toBe(true);
    const writers = [one, two].filter(({ store }) => (store.written.get('content.totals') ?? 0) > 0);
    expect(writers).toEqual([one]);
    // Who only watches hears of the others a moment later, when nobody waits for them.
    const seen = async () => (await two.runtime.status()).projections.map(({ state, lag }) => `${state} ${lag}`);
    await until('it sees that all are at the end', async () => (await seen()).join() === 'live 0,live 0,live 0');
  });

  test('when it ends another takes over, and nothing is left out', async () => {
    const [one, two] = [await open(), await open()];
    await one.repository.handle('b1', create, one.metadata());
    await end(one);
    let position = 0;
    for (let index = 0; index < 10; index += 1)
      ({ position } = await two.repository.handle('b1', add(`m${index}`), two.metadata()));
    expect(await two.runtime.waitFor('totals', position, 5000)).toBe(true);
    expect(await total(two)).toBe(10);
  });

  test('a rebuild by one that does not write them is taken up by the one that does', async () => {
    const [one, two] = [await open(), await open()];
    await one.repository.handle('b1', create, one.metadata());
    await one.repository.handle('b1', add('milk'), one.metadata());
    await two.runtime.rebuild();
    const { position } = await one.repository.handle('b1', add('muesli'), one.metadata());
    expect(await two.runtime.waitFor('totals', position, 5000)).toBe(true);
    await until('both see both', async () => (await total(one)) === 2 && (await total(two)) === 2);
    const notes = async ({ runtime }: Process) => Object((await runtime.live(boardsSpec).get('b1'))?.document).notes;
    await until('the own documents too', async () => (await notes(one)) === 2 && (await notes(two)) === 2);
  });
});
