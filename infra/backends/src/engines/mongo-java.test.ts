import { appendFile, mkdtemp, open, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Db, type Document, MongoClient } from 'mongodb';
import { type Backend, startBackend } from '../index.ts';

interface Row {
  readonly _id: string;
  readonly r?: number;
  readonly [field: string]: unknown;
}

const withServer = (process.env.MONGODB_URL ?? '') === '' ? describe.skip : describe;

withServer('mongo-java-server in memory with a log (needs MONGODB_URL, and starts one of its own)', () => {
  let folder: string;
  let log: string;
  let server: Backend;
  let client: MongoClient;
  let database: Db;

  const connect = async (): Promise<void> => {
    client = new MongoClient(`mongodb://127.0.0.1:${server.port}/`, { serverSelectionTimeoutMS: 5000 });
    database = client.db('kept');
    await client.connect();
  };
  /** Kills it, changes its file, starts it again. */
  const afterKill = async (change: () => Promise<void> = async () => {}): Promise<void> => {
    await client.close();
    await server.kill();
    await change();
    await server.start();
    await connect();
  };
  const rows = (name: string): Promise<readonly Row[]> =>
    database
      .collection<Row>(name)
      .find({}, { sort: { _id: 1 } })
      .toArray();
  /** All that there is: documents and indexes of every collection. */
  const everything = async (): Promise<Readonly<Record<string, Document>>> => {
    const all: Record<string, Document> = {};
    const names = (await database.listCollections().toArray()).map(({ name }) => name).toSorted();
    for (const name of names)
      all[name] = { rows: await rows(name), indexes: await database.collection(name).indexes() };
    return all;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-mongo-java-'));
    server = await startBackend('mongodb', { folder, mongo: 'java' });
    log = join(folder, 'mongodb', 'data-java', 'commands.log');
  }, 180_000);
  beforeEach(async () => {
    await connect();
    await database.dropDatabase();
  });
  afterEach(() => client.close());
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const put = (id: string, revision: number, fields: Document = {}): Promise<unknown> =>
    database
      .collection<Row>('a')
      .replaceOne({ _id: id, r: { $lt: revision } }, { r: revision, ...fields }, { upsert: true });
  const duplicate = { code: 11_000 };

  test('every kind of acknowledged write outlives SIGKILL, and so does what was refused', async () => {
    const a = database.collection<Row>('a');
    const b = database.collection<Row>('b');
    await a.createIndexes([
      { name: 'by', key: { 'k.x': 1, _id: 1 } },
      { name: 'only', key: { u: 1 }, unique: true },
    ]);
    await b.createIndex({ other: 1 }, { name: 'by' });
    await Promise.all(Array.from({ length: 40 }, (_, n) => put(`d${n}`, 2, { k: { x: `x${n % 3}` }, u: [`u${n}`] })));
    await expect(put('d1', 1, { u: 'late' })).rejects.toMatchObject(duplicate);
    await expect(put('d99', 1, { u: 'u3' })).rejects.toMatchObject(duplicate);
    await put('d1', 3, { k: { x: null }, u: 'again', text: 'Ж𝄞\u0000', n: [1, 2.5, -0, null, { deep: ['x'] }] });
    expect((await a.deleteMany({ 'k.x': 'x2' })).deletedCount).toBe(13);
    await a.updateMany({ 'k.x': 'x0' }, { $set: { 'k.x': 'moved', r: 7 } });
    await b.insertMany([{ _id: 'one' }, { _id: 'two' }]);
    await b.findOneAndUpdate({ _id: 'two' }, { $set: { n: 2 } });
    // Of two indexes with one name, the other stays.
    await b.dropIndex('by');
    await database.collection<Row>('gone').insertOne({ _id: 'x' });
    await database.collection('gone').drop();
    await client.db('away').collection<Row>('c').insertOne({ _id: 'x' });
    await client.db('away').dropDatabase();
    const before = await everything();
    expect(before).toMatchObject({ a: { indexes: [{}, { name: 'by' }, { name: 'only', unique: true }] } });
    expect(Object.keys(before)).toEqual(['a', 'b']);

    await afterKill();
    expect(await everything()).toEqual(before);
    expect(await client.db('away').listCollections().toArray()).toEqual([]);
    // What was replayed is now the beginning of a new log.
    await put('d1', 4, { u: 'later' });
    const later = await everything();
    await afterKill();
    expect(await everything()).toEqual(later);
    await expect(put('d99', 1, { u: 'u3' })).rejects.toMatchObject(duplicate);
    expect(await put('d2', 9)).toMatchObject({ upsertedCount: 1 });
  }, 120_000);

  test('killed among writes: all that were acknowledged are there', async () => {
    const acknowledged: string[] = [];
    let over = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !over; n++) {
        await put(`${writer}-${n}`, 1, { text: 'x'.repeat(n % 5000) });
        acknowledged.push(`${writer}-${n}`);
        if (acknowledged.length === 1500) await server.kill();
      }
    });
    await Promise.allSettled(writers);
    over = true;
    await afterKill();
    const there = new Set((await rows('a')).map(({ _id }) => _id));
    expect(acknowledged.length).toBeGreaterThanOrEqual(1500);
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
  }, 120_000);

  test('of a torn end, only what was not complete is lost', async () => {
    await put('a', 1);
    const complete = (await stat(log)).size;
    await put('b', 1);
    await afterKill(() => truncate(log, complete + 30));
    expect(await rows('a')).toEqual([{ _id: 'a', r: 1 }]);
    await put('b', 2);
    await afterKill(() => appendFile(log, Buffer.from([0, 0, 0])));
    expect(await rows('a')).toEqual([
      { _id: 'a', r: 1 },
      { _id: 'b', r: 2 },
    ]);
  }, 120_000);

  test('a damaged file is not taken for a shorter one', async () => {
    await put('a', 1, { text: 'a'.repeat(100) });
    await put('b', 1);
    const intact = await readFile(log);
    const damage = async (bytes: Buffer): Promise<void> => {
      const file = await open(log, 'r+');
      await file.write(bytes, 0, bytes.length, 40);
      await file.close();
    };
    await expect(afterKill(() => damage(Buffer.from('xyz')))).rejects.toThrow('the log is damaged');
    await afterKill(() => damage(intact.subarray(40, 43)));
    expect((await rows('a')).map(({ _id }) => _id)).toEqual(['a', 'b']);
  }, 120_000);

  test('with indexes it answers as without', async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const pick = <T>(...values: readonly [T, ...T[]]): T => values[random(values.length)] ?? values[0];
    const value = (): unknown =>
      pick<unknown>(`v${random(6)}`, `v${random(6)}`, `v${random(6)}`, random(4), null, true);
    const tags = (): unknown => Array.from({ length: random(4) }, () => pick<unknown>(`v${random(6)}`, random(4)));
    const row = (): Document => ({
      l: pick(1, 1, 1, 0),
      k: { x: value(), ...(random(4) === 0 ? {} : { y: pick<unknown>(`v${random(6)}`, random(3)) }) },
      m: random(8) === 0 ? value() : { t: pick(tags(), tags(), value()) },
      s: `v${random(9)}`,
    });
    const plain = database.collection<Row>('plain');
    const indexed = database.collection<Row>('indexed');
    const path = (): string => pick('k.x', 'k.y', 'm.t', 's', 'l', '_id');
    const operand = (name: string): unknown =>
      name === '_id' ? `d${random(150)}` : name === 'l' ? 1 : pick(value(), `v${random(6)}`);
    const condition = (name: string): unknown =>
      pick(
        operand(name),
        operand(name),
        { $in: [operand(name), operand(name), operand(name)] },
        { [pick('$gt', '$gte')]: operand(name), [pick('$lt', '$lte')]: operand(name) },
        { [pick('$gt', '$gte', '$lt', '$lte', '$ne', '$eq')]: operand(name) },
      );
    const conditions = (): Document => {
      const names = Array.from({ length: random(4) }, path);
      return Object.fromEntries(names.map((name) => [name, condition(name)]));
    };
    const filter = (): Document =>
      pick(
        conditions(),
        { $and: [conditions(), conditions()] },
        { ...conditions(), $or: [conditions(), conditions(), conditions()] },
      );
    // Not by arrays: for the library of two empty ones each is the smaller.
    const sort = (): Document => {
      const down = pick(1, -1);
      const names = pick<readonly string[]>(['k.y'], ['s'], ['s', 'k.y'], [], ['k.x']);
      return Object.fromEntries([...names, '_id'].map((name) => [name, random(6) === 0 ? -down : down]));
    };
    await indexed.createIndexes([
      { key: { l: 1, 'k.x': 1, _id: 1 } },
      { key: { l: 1, 'k.y': 1, s: 1, _id: 1 } },
      { key: { l: 1, 'm.t': 1, _id: 1 } },
      { key: { s: -1 } },
    ]);
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 60; n++) {
        const _id = `d${random(150)}`;
        const replacement = row();
        for (const collection of [plain, indexed]) await collection.replaceOne({ _id }, replacement, { upsert: true });
      }
      const doomed = { s: `v${random(9)}`, l: 1 };
      expect((await indexed.deleteMany(doomed)).deletedCount).toBe((await plain.deleteMany(doomed)).deletedCount);
      for (let n = 0; n < 70; n++) {
        const query = filter();
        const options = { sort: sort(), limit: pick(0, 1, 5, 20), skip: pick(0, 0, 3) };
        const [one, other] = await Promise.all([plain, indexed].map((each) => each.find(query, options).toArray()));
        expect({ query, options, found: other }).toEqual({ query, options, found: one });
        expect(await indexed.countDocuments(query)).toBe(await plain.countDocuments(query));
        const some = await indexed.find(query, { limit: 7 }).toArray();
        expect(some.length).toBe((await plain.find(query, { limit: 7 }).toArray()).length);
      }
    }
  }, 120_000);
});
