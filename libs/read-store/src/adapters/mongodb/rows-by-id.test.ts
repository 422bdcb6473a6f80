import { expect, test } from '@jest/globals';
import { BSON } from 'mongodb';
import { Connection } from './connection.ts';
import { rowsById } from './rows-by-id.ts';
import { type Answer, type Command, primary, startSpeaker } from './server.testing.ts';

const rows = [
  { _id: 'a', r: 1, d: '1' },
  { _id: 'b', r: 2, d: '2' },
];
const found = (firstBatch: readonly unknown[], id = BSON.Long.ZERO): Command => ({
  cursor: { id, ns: 'bindery.things', firstBatch },
  ok: 1,
});

/** Reads two rows of a server that answers the commands to find them one after the other like this, the last one for ever. */
const read = async (durable: boolean, answers: readonly (Command | 'cut')[], ended?: Command | 'cut') => {
  let finds = 0;
  const answer: Answer = (name) => {
    if (name === 'killCursors') return ended;
    return name === 'find' ? answers[Math.min(finds++, answers.length - 1)] : undefined;
  };
  const server = await startSpeaker(primary, answer);
  const limits = { timeoutMs: 5000, maxConnections: 5 };
  const connection = new Connection({ url: server.url, database: 'bindery', ...limits, durable, applicationName: 't' });
  try {
    await connection.open();
    const ordinary = () =>
      connection.database
        .collection<(typeof rows)[number]>('things')
        .find({ _id: { $in: ['a', 'b'] } })
        .toArray();
    const outcome = await connection
      .run(() => rowsById(connection, 'things', ['a', 'b'], ordinary))
      .catch((error: unknown) => error);
    return { outcome, server };
  } finally {
    await connection.close();
    await server.close();
  }
};

test.each([
  [false, 'local'],
  [true, 'majority'],
])('rows are one command that promises what a cursor does (durable: %s)', async (durable, level) => {
  const { outcome, server } = await read(durable, [found(rows)]);
  expect(outcome).toEqual(rows);
  expect(server.sent('find')).toMatchObject([
    {
      find: 'things',
      filter: { _id: { $in: ['a', 'b'] } },
      projection: { _id: 1, r: 1, d: 1 },
      limit: 2,
      batchSize: 3,
      maxTimeMS: 5000,
      readConcern: { level },
    },
  ]);
  expect(server.sent('killCursors')).toEqual([]);
});

test.each<readonly [string, Command | 'cut']>([
  ['the connection broke', 'cut'],
  ['another server is the primary now', { ok: 0, code: 10107, errmsg: 'not primary' }],
])('%s: asked for again', async (_, failure) => {
  const { outcome, server } = await read(false, [failure, found(rows)]);
  expect(outcome).toEqual(rows);
  expect(server.sent('find').length).toBe(2);
});

test.each<readonly [string, Command, string]>([
  ['the server was too slow', { ok: 0, code: 50, errmsg: 'late' }, 'read_store.unavailable'],
  ['it refuses access', { ok: 0, code: 13, errmsg: 'no' }, 'read_store.unavailable'],
])('%s: not asked for again', async (_, failure, code) => {
  const { outcome, server } = await read(false, [failure, found(rows)]);
  expect(outcome).toMatchObject({ code });
  expect(server.sent('find').length).toBe(1);
});

test('rows that do not fit into one answer are read through a cursor, and none is left open', async () => {
  const open = BSON.Long.fromString('9007199254740993');
  const { outcome, server } = await read(false, [found(rows.slice(0, 1), open), found(rows)]);
  expect(outcome).toEqual(rows);
  expect(server.sent('killCursors')).toMatchObject([{ killCursors: 'things', cursors: [open] }]);
});

test.each<readonly [string, Command | 'cut']>([
  ['the connection broke', 'cut'],
  ['it is not permitted', { ok: 0, code: 13, errmsg: 'no' }],
])('a cursor that cannot be ended since %s is no reason to fail', async (_, ended) => {
  const { outcome } = await read(false, [found(rows.slice(0, 1), BSON.Long.fromNumber(7)), found(rows)], ended);
  expect(outcome).toEqual(rows);
});
