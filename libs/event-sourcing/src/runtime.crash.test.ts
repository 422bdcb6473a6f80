import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crashLoop } from '@bindery/testing';
import { openTestPorts, testRuntime } from '@bindery/testing/event-sourcing';
import { expect, test } from '@jest/globals';
import {
  boardDocuments,
  boards,
  boardsSpec,
  noteDocuments,
  notesSpec,
  publicBoards,
  totals,
  totalsSpec,
} from './fixtures/boards.ts';
import { documentsOf } from './fixtures/documents.ts';
import { type Reactor, reactorMetadata } from './index.ts';

const specs = [boardsSpec, notesSpec, totalsSpec];

test('kill -9 during writes, reactions and rebuilds: nothing acknowledged is lost, nothing happens twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-runtime-crash-'));
  const acknowledged: string[] = [];
  await crashLoop({
    script: new URL('./crash-child/testing.ts', import.meta.url),
    args: [folder],
    rounds: 5,
    withinMs: 300,
    afterCrash: async (_round, lines) => {
      acknowledged.push(...lines);
    },
  });
  expect(acknowledged.length).toBeGreaterThan(20);

  const ports = await openTestPorts({ folder });
  const counter: Reactor = {
    name: 'counter',
    aggregates: [boards.name],
    handles: ['NoteAdded'],
    react: async (event) => {
      if (event.stream === 'content.board-log') return;
      const { text } = Object(event.data);
      await repository.handle(
        'log',
        { type: 'AddNote', data: { text } },
        reactorMetadata(event, 'counter', ports.clock),
      );
    },
  };
  const { runtime, settled } = await testRuntime({
    service: 'content',
    projections: [boardDocuments(), noteDocuments(), totals()],
    reactors: [counter],
    publicMapping: publicBoards,
    ports,
  });
  const repository = runtime.repository(boards);
  await runtime.start();
  await settled();

  const written: string[] = [];
  const log: string[] = [];
  const ids: string[] = [];
  for await (const event of ports.eventStore.readAll()) {
    if (event.type !== 'NoteAdded') continue;
    ids.push(event.id);
    (event.stream === 'content.board-log' ? log : written).push(Object(event.data).text);
  }
  expect(acknowledged.filter((text) => !written.includes(text))).toEqual([]);
  expect(log.toSorted()).toEqual(written.toSorted()); // every note was reacted to, once

  const before = await documentsOf(runtime, specs);
  await runtime.rebuild();
  expect(await documentsOf(runtime, specs)).toEqual(before); // what survived the kills is what the events say
  expect(before.filter((line) => line.startsWith('content.notes')).length).toBe(ids.length);

  const published = (await ports.bus.last('bindery.content.v1', 10_000)).map(({ event }) => event);
  expect(new Set(published.map(({ id }) => id))).toEqual(new Set(ids));
  for (const subject of ['a', 'b', 'c', 'log']) {
    const numbers = [
      ...new Set(published.filter((event) => event.subject === subject).map(({ data }) => Object(data).number)),
    ];
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }
  await runtime.stop();
  await ports.close();
  await rm(folder, { recursive: true });
}, 120_000);
