import type { RecordedEvent } from '@bindery/event-store';
import { openTestPorts, type TestPorts, type TestRuntime, testRuntime, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Board, type BoardCommand, type BoardEvent, boards } from '../fixtures/boards.ts';
import type { Reactor, Repository } from '../index.ts';
import { HeadStart } from './head-start.ts';

const create: BoardCommand = { type: 'CreateBoard', data: { title: 'Plans' } };
const add = (text: string): BoardCommand => ({ type: 'AddNote', data: { text } });
const rename = (title: string): BoardCommand => ({ type: 'RenameBoard', data: { title } });

const at = '2026-03-01T12:00:00.000Z';
const later = (ms: number): Date => new Date(Date.parse(at) + ms);
const eventAt = (position: number, time = at): RecordedEvent => ({
  ...{ id: `e${position}`, stream: 's-1', revision: position, position, type: 'T', data: {} },
  metadata: {
    ...{ correlationId: 'c', causationId: 'c', schemaVersion: 1, time },
    actor: { kind: 'user', id: 'u' },
  },
});

test('an event that comes to wait while an earlier one under its key is reacted to is not settled with it', () => {
  const held = new HeadStart(0);
  held.hold('key', eventAt(1), 0);
  const due = [...held.due()];
  expect(due.map(([key]) => key)).toEqual(['key']);
  held.settle('key'); // what the reaction appended
  held.hold('key', eventAt(3), 2);
  for (const [key, event] of due) held.settle(key, event);
  expect(held.settledUpTo(3)).toBe(2);
  expect([...held.due().values()].map(({ id }) => id)).toEqual(['e3']);
  for (const [key, event] of held.due()) held.settle(key, event);
  expect(held.settledUpTo(3)).toBe(3);
});

describe('the end of the log', () => {
  const dueOf = (held: HeadStart): string[] => [...held.due().values()].map(({ id }) => id);

  test('makes due what happened long ago, and nothing that may still be at work', () => {
    const held = new HeadStart(60_000);
    held.hold('old', eventAt(1, at), 0);
    held.hold('new', eventAt(2, later(50_000).toISOString()), 1);
    expect(dueOf(held)).toEqual([]);
    held.caughtUp(later(70_000));
    expect(dueOf(held)).toEqual(['e1']);
  });

  test('counts once: what comes afterwards has its whole time, however long its command took', () => {
    const held = new HeadStart(60_000);
    held.caughtUp(later(0));
    held.hold('slow', eventAt(1, at), 0);
    held.caughtUp(later(70_000));
    expect(dueOf(held)).toEqual([]);
  });

  test('gives no age by a clock that is behind, nor by a time that is none', () => {
    const held = new HeadStart(60_000);
    held.hold('ahead', eventAt(1, later(120_000).toISOString()), 0);
    held.hold('none', eventAt(2, 'yesterday'), 1);
    held.caughtUp(later(0));
    expect(dueOf(held)).toEqual([]);
  });
});

describe('a reactor with a head start', () => {
  let ports: TestPorts;
  let reacted: string[] = [];
  const running: TestRuntime[] = [];

  /** A note waits for a board that is given its text as title. */
  const open = async (headStartMs: number, fails: (text: string) => boolean = () => false) => {
    const reactor: Reactor = {
      name: 'finisher',
      aggregates: [boards.name],
      handles: ['NoteAdded'],
      headStart: {
        awaits: ({ data }) => {
          const { text } = Object(data);
          if (text === 'unclear') throw new TypeError('it does not say');
          return text === 'nothing' ? undefined : text;
        },
        settledBy: { aggregates: [boards.name], types: ['BoardRenamed'] },
        settles: ({ data }) => Object(data).title,
      },
      react: async ({ data }) => {
        const { text } = Object(data);
        if (fails(text)) throw new Error('not now');
        reacted.push(text);
      },
    };
    const opened = await testRuntime({
      service: 'content',
      projections: [],
      reactors: [reactor],
      ports,
      tuning: { headStartMs },
    });
    running.push(opened);
    const repository: Repository<Board, BoardCommand, BoardEvent> = opened.runtime.repository(boards);
    await opened.runtime.start();
    const handle = (id: string, command: BoardCommand) => repository.handle(id, command, opened.metadata());
    return { ...opened, handle };
  };
  const stopAll = async (): Promise<void> => {
    for (const { stop } of running.splice(0)) await stop();
  };

  beforeEach(async () => {
    reacted = [];
    ports = await openTestPorts();
  });
  afterEach(async () => {
    await stopAll();
    await ports.remove();
  });

  test('does nothing about what others settle, and passes it', async () => {
    const { handle, settled, runtime } = await open(60_000);
    for (const id of ['notes', 'titles']) await handle(id, create);
    for (const text of ['a', 'b', 'c', 'nothing']) await handle('notes', add(text));
    for (const title of ['b', 'a', 'c']) await handle('titles', rename(title));
    await settled();
    expect(reacted).toEqual([]);
    expect((await runtime.status()).reactors).toMatchObject([{ lag: 0, state: 'live', parked: [] }]);
  });

  test('does what is left, in order', async () => {
    const { handle, settled } = await open(30);
    for (const id of ['notes', 'titles']) await handle(id, create);
    for (const text of ['a', 'b', 'c', 'd', 'a']) await handle('notes', add(text));
    await handle('titles', rename('c'));
    await settled();
    expect(reacted.filter((text) => text !== 'c')).toEqual(['a', 'b', 'd', 'a']);
  });

  test('does not pass what waits: the next one to run finds it', async () => {
    const first = await open(60_000);
    for (const id of ['notes', 'titles']) await first.handle(id, create);
    for (const text of ['a', 'b', 'c']) await first.handle('notes', add(text));
    await first.handle('titles', rename('a'));
    const lag = async () => (await first.runtime.status()).reactors?.[0]?.lag;
    await until('it has read everything', async () => (await lag()) === 3); // b, c and the title behind them
    await stopAll();
    expect(reacted).toEqual([]);
    const second = await open(30);
    await second.settled();
    expect(reacted).toEqual(['b', 'c']);
  });

  test('finishes at once what was left unfinished long before it began', async () => {
    const first = await open(60_000);
    for (const id of ['notes', 'titles']) await first.handle(id, create);
    for (const text of ['a', 'b']) await first.handle('notes', add(text));
    await first.handle('titles', rename('a'));
    await stopAll();
    ports.clock.advance(61_000);
    const second = await open(60_000);
    await second.settled();
    expect(reacted).toEqual(['b']);
  });

  test('one that does not say what it waits for is reacted to, and holds up no other', async () => {
    const { handle, settled, runtime } = await open(30, (text) => text === 'unclear');
    for (const id of ['notes', 'others']) await handle(id, create);
    await handle('notes', add('unclear'));
    for (const text of ['a', 'b']) await handle('others', add(text));
    await until('it is parked', async () => (await runtime.status()).reactors?.[0]?.parked.length === 1);
    await settled();
    expect(reacted).toEqual(['a', 'b']);
  });

  test('parks a stream whose event fails, with those behind it, until it works', async () => {
    let broken = true;
    const { handle, settled, runtime } = await open(30, (text) => broken && text === 'poison');
    await handle('notes', create);
    for (const text of ['poison', 'two']) await handle('notes', add(text));
    await until('it is parked', async () => (await runtime.status()).reactors?.[0]?.parked.length === 1);
    expect(reacted).toEqual([]);
    broken = false;
    await until('it is released', async () => (await runtime.status()).reactors?.[0]?.parked.length === 0);
    await settled();
    expect(reacted).toEqual(['poison', 'two']);
  });
});
