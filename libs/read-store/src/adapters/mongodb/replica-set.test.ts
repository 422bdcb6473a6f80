import { expect, test } from '@jest/globals';
import { BSON } from 'mongodb';
import type { Collection } from '../../port.ts';
import { type MongoReadStoreOptions, openMongoReadStore } from '../mongodb.ts';
import { type Answer, type Command, primary, secondary, startSpeaker } from './server.testing.ts';

const spec = { name: 'testing.things', version: 1, indexes: [{ name: 'n', fields: ['n'], unique: true }] };
const unavailable = { code: 'read_store.unavailable' };

/** A server keeps at least what the layouts are. */
const withRegistry = (answer: Answer | undefined): Answer => {
  let entry: unknown;
  return (name, command) => {
    if (command[name] !== '_layouts') return answer?.(name, command);
    if (name === 'insert') entry = [command.documents].flat()[0];
    if (name === 'update') entry = { ...Object(entry), state: 'ready' };
    const firstBatch = entry === undefined ? [] : [entry];
    return name === 'find' ? { cursor: { id: BSON.Long.ZERO, ns: 'a._layouts', firstBatch }, ok: 1 } : undefined;
  };
};

const run = async (
  {
    self = primary,
    answer,
    query = '',
    ...options
  }: Partial<MongoReadStoreOptions> & {
    readonly self?: Command;
    readonly answer?: Answer;
    readonly query?: string;
  },
  work: (
    collection: Collection<unknown>,
    server: Awaited<ReturnType<typeof startSpeaker>>,
    batch: (count: number) => Promise<void>,
  ) => Promise<void>,
): Promise<void> => {
  const server = await startSpeaker(self, withRegistry(answer));
  try {
    const store = await openMongoReadStore({ url: `${server.url}?${query}`, timeoutMs: 1500, ...options });
    try {
      const collection = await store.collection<unknown>(spec);
      const batch = (count: number): Promise<void> =>
        store.batch(
          Array.from({ length: count }, (_, n) => ({
            collection,
            write: { kind: 'put', id: `d${n}`, revision: 1, document: { n } },
          })),
        );
      await work(collection, server, batch);
    } finally {
      await store.close();
    }
  } finally {
    await server.close();
  }
};

const weak = 'w=1&journal=false&readConcernLevel=available&readPreference=secondaryPreferred&wtimeoutMS=1';

test('an address that asks for weaker promises does not get them', async () => {
  await run({ query: weak }, async (collection, server) => {
    await collection.put('a', 1, {});
    await collection.get('a');
    for (const { writeConcern } of [...server.sent('update'), ...server.sent('createIndexes')])
      expect(writeConcern).toEqual({ w: 'majority' });
    for (const { readConcern, $readPreference } of server.sent('find'))
      expect([readConcern, $readPreference]).toEqual([{ level: 'local' }, undefined]);
    expect(server.sent('update').at(-1)).toHaveProperty('txnNumber');
  });
  await run({ query: weak, durable: true }, async (collection, server) => {
    await collection.put('a', 1, {});
    await collection.get('a');
    await collection.count({ n: 1 });
    expect(server.sent('update').at(-1)?.writeConcern).toEqual({ w: 'majority', j: true });
    for (const { readConcern } of [...server.sent('find'), ...server.sent('aggregate')])
      expect(readConcern).toEqual({ level: 'majority' });
  });
});

test('what an address says of connections and of repeats is kept: some servers refuse retryable writes', () =>
  run({ query: 'retryWrites=false&maxPoolSize=1' }, async (collection, server) => {
    await collection.put('a', 1, {});
    expect(server.sent('update').at(-1)).not.toHaveProperty('txnNumber');
  }));

test('indexes are built when a majority has them, where copies are kept; a server alone refuses to be told so', async () => {
  await run({}, async (_, server) =>
    expect(server.sent('createIndexes').map(({ commitQuorum }) => commitQuorum)).toEqual(['majority']),
  );
  await run({ self: { ismaster: true } }, async (_, server) => {
    expect(server.sent('createIndexes').length).toBe(1);
    expect(server.sent('createIndexes')[0]).not.toHaveProperty('commitQuorum');
  });
  await run({ self: { ismaster: true, msg: 'isdbgrid' }, durable: true }, async (_, server) =>
    expect(server.sent('createIndexes').map(({ commitQuorum }) => commitQuorum)).toEqual(['majority']),
  );
});

test('a direct connection to a secondary is refused: it would read what is out of date', () =>
  expect(run({ self: secondary, query: 'directConnection=true' }, async () => undefined)).rejects.toMatchObject(
    unavailable,
  ));

const duplicate = {
  index: 0,
  code: 11000,
  errmsg: 'E11000 duplicate key error collection: a.b index: _id_ dup key: {}',
};
const stepDown = { code: 189, errmsg: 'stepped down', errInfo: {} };

test.each<readonly [string, Command | 'cut']>([
  ['the connection ends', 'cut'],
  [
    'the primary steps down before',
    { ok: 0, code: 10107, errmsg: 'not primary', errorLabels: ['RetryableWriteError'] },
  ],
  [
    'the primary steps down before a majority has it',
    { n: 0, writeErrors: [duplicate], writeConcernError: stepDown, ok: 1 },
  ],
  ['no majority in time', { n: 2, nModified: 2, writeConcernError: { code: 64, errmsg: 'waiting timed out' }, ok: 1 }],
  [
    'one is refused, the time of another is over',
    { n: 0, writeErrors: [duplicate, { index: 1, code: 50, errmsg: 'late' }], ok: 1 },
  ],
])('a batch: %s: unavailable, not a mistake of the caller', (_, told) => {
  let armed = false;
  const answer: Answer = (name) => (armed && name === 'update' ? told : undefined);
  return run({ answer }, async (collection, _server, batch) => {
    armed = true;
    await expect(batch(2)).rejects.toMatchObject(unavailable);
    await expect(collection.put('a', 1, {})).rejects.toMatchObject(unavailable);
  });
});

test.each<readonly [string, Command]>([
  ['no majority in time', { n: 1, nModified: 1, writeConcernError: { code: 64, errmsg: 'waiting timed out' }, ok: 1 }],
  ['the primary steps down before a majority has it', { n: 1, nModified: 1, writeConcernError: stepDown, ok: 1 }],
])('a lease is not held when its write may be taken back: %s', (_, told) => {
  let armed = false;
  return run({ answer: (name) => (armed && name === 'update' ? told : undefined) }, async (collection) => {
    armed = true;
    await expect(collection.compareAndPut('a', 3, {})).rejects.toMatchObject(unavailable);
  });
});

test('a write during an election is made at the first repeat', () => {
  let refusals = 1;
  const answer: Answer = (name) =>
    name === 'update' && refusals-- === 0
      ? { ok: 0, code: 10107, errmsg: 'not primary', errorLabels: ['RetryableWriteError'] }
      : undefined;
  return run({ answer, timeoutMs: 5000 }, async (collection) => {
    refusals = 0;
    expect(await collection.put('a', 1, {})).toBe(true);
    expect(refusals).toBeLessThan(-1);
  });
});
