import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { WrongExpectedRevision } from '../port.ts';
import { openSqliteEventStore } from './sqlite.ts';

/**
 * Test process: appends until it is killed, or `rounds` times, and prints `<event id> <stream> <revision>` for each
 * acknowledged event. Arguments: database file, streams separated by commas, rounds.
 */
const [path = '', streams = '', rounds = 'Infinity'] = process.argv.slice(2);
const store = openSqliteEventStore({ path });
const metadata = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'service', id: 'crash' },
  schemaVersion: 1,
  time: '2030-01-01T00:00:00.000Z',
} as const;

const write = async (stream: string): Promise<void> => {
  for (let round = 0; round < Number(rounds); round += 1) {
    const events = Array.from({ length: 1 + (round % 3) }, () => ({
      id: randomUUID(),
      type: 'T',
      data: { round },
      metadata,
    }));
    for (let acknowledged = false; !acknowledged; ) {
      let head: number | undefined;
      for await (const last of store.readStream(stream, { direction: 'backwards', limit: 1 })) head = last.revision;
      try {
        const { revision } = await store.append(stream, events, head ?? 'no-stream');
        const lines = events.map(({ id }, index) => `${id} ${stream} ${revision - events.length + 1 + index}\n`);
        writeSync(1, lines.join('')); // synchronous: what was printed was acknowledged, whatever happens next
        acknowledged = true;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
    }
  }
};

await Promise.all(streams.split(',').map(write));
await store.close();
