import { openTestPorts, testRuntime } from '@bindery/testing/event-sourcing';
import { boardDocuments, boards, noteDocuments, publicBoards, totals } from '../fixtures/boards.ts';
import { type Reactor, reactorMetadata } from '../index.ts';

// Run by ../runtime.crash.test.ts: writes to boards, rebuilds now and then, and prints a line for what was acknowledged.

const [folder = '', round = '0'] = process.argv.slice(2);
const ports = await openTestPorts({ folder });
const counter: Reactor = {
  name: 'counter',
  aggregates: [boards.name],
  handles: ['NoteAdded'],
  react: async (event) => {
    if (event.stream === 'content.board-log') return;
    const { text } = Object(event.data);
    await repository.handle('log', { type: 'AddNote', data: { text } }, reactorMetadata(event, 'counter', ports.clock));
  },
};
const { runtime, metadata } = await testRuntime({
  service: 'content',
  projections: [boardDocuments(), noteDocuments(), totals()],
  reactors: [counter],
  publicMapping: publicBoards,
  ports,
  tuning: { rebuildChunk: 50, checkpointEvents: 20 },
});
const repository = runtime.repository(boards);
await runtime.start();
const random = () => metadata({ eventId: () => crypto.randomUUID() });
await repository.handle('log', { type: 'CreateBoard', data: { title: 'log' } }, random());

const writer = async (name: string): Promise<void> => {
  await repository.handle(name, { type: 'CreateBoard', data: { title: name } }, random());
  for (let index = 0; ; index += 1) {
    const text = `${name}-${round}-${index}`;
    await repository.handle(name, { type: 'AddNote', data: { text } }, random());
    process.stdout.write(`${text}\n`);
  }
};
const rebuilder = async (): Promise<void> => {
  for (;;) await runtime.rebuild();
};
await Promise.all([writer('a'), writer('b'), writer('c'), rebuilder()]);
