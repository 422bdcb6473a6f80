import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { seededRandom } from '../seeded-random.ts';
import { type BlobStoreHarness, readAll, withBlobStore } from './harness.ts';

const MAX = 64 * 1024 * 1024;
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Bytes without a pattern that a store could get right by accident. */
const randomBytes = (seed: number, size: number): Buffer => {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length: size }, () => random.below(256)));
};

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
}

/** Puts, limits, failures of the source. */
export const storing = (harness: BlobStoreHarness): void => {
  test.each([0, 1, 65_535, 65_536, 65_537, 300_000])('%i bytes come back the same, at once and as a stream', (size) =>
    withBlobStore(harness, async (store) => {
      const bytes = randomBytes(size + 1, size);
      const expected = { sha256: hashOf(bytes), size };
      expect(await store.put(bytes, MAX)).toEqual(expected);
      expect(await store.stat(expected.sha256)).toEqual({ size });
      expect((await readAll(store, expected.sha256))?.equals(bytes)).toBe(true);
      await store.delete(expected.sha256);
      expect(await store.put(inPieces(bytes, 1000), MAX)).toEqual(expected);
      expect((await readAll(store, expected.sha256))?.equals(bytes)).toBe(true);
    }),
  );

  test('a source may use its buffer again', () =>
    withBlobStore(harness, async (store) => {
      const source = async function* (): AsyncGenerator<Uint8Array> {
        const buffer = new Uint8Array(10);
        for (let turn = 0; turn < 5; turn++) yield buffer.fill(turn);
      };
      const { sha256 } = await store.put(source(), MAX);
      expect((await readAll(store, sha256))?.toString('hex')).toBe(
        [0, 1, 2, 3, 4].map((turn) => `0${turn}`.repeat(10)).join(''),
      );
    }));

  test('a stream is not gathered in memory', () =>
    withBlobStore(harness, async (store) => {
      const chunk = new Uint8Array(1024 * 1024).fill(7);
      let peak = 0;
      const source = async function* (): AsyncGenerator<Uint8Array> {
        for (let turn = 0; turn < 48; turn++) {
          peak = Math.max(peak, process.memoryUsage().arrayBuffers);
          yield chunk;
        }
      };
      const before = process.memoryUsage().arrayBuffers;
      const { sha256, size } = await store.put(source(), MAX);
      expect(size).toBe(48 * 1024 * 1024);
      let read = 0;
      for await (const part of (await store.get(sha256))?.body ?? []) read += part.byteLength;
      expect(read).toBe(size);
      expect(peak - before).toBeLessThan(40 * 1024 * 1024);
    }));

  test('at the limit it is stored, one byte above nothing is, and the source is let go', () =>
    withBlobStore(harness, async (store, place) => {
      const tooLarge = { code: 'blob_store.too_large', maxBytes: 1000 };
      await expect(store.put(new Uint8Array(1001), 1000)).rejects.toMatchObject(tooLarge);
      let pulled = 0;
      let released = false;
      const endless = async function* (): AsyncGenerator<Uint8Array> {
        try {
          for (;;) {
            pulled += 100;
            yield new Uint8Array(100);
          }
        } finally {
          released = true;
        }
      };
      await expect(store.put(endless(), 1000)).rejects.toMatchObject(tooLarge);
      expect([pulled, released]).toEqual([1100, true]);
      expect(await place.countStored()).toBe(0);
      expect((await store.put(new Uint8Array(1000), 1000)).size).toBe(1000);
      expect(await place.countStored()).toBe(1);
      for (const maxBytes of [-1, 1.5, Number.NaN])
        await expect(store.put(new Uint8Array(0), maxBytes)).rejects.toThrow(RangeError);
    }));

  test('a source that fails leaves nothing, and its own error arrives', () =>
    withBlobStore(harness, async (store, place) => {
      const source = async function* (): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(500_000);
        throw new Error('connection lost');
      };
      await expect(store.put(source(), MAX)).rejects.toThrow('connection lost');
      expect(await place.countStored()).toBe(0);
    }));

  test('the same content at once and again is one blob; different content stays apart', () =>
    withBlobStore(harness, async (store, place) => {
      const other = await place.open();
      const bytes = randomBytes(3, 200_000);
      const puts = Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).put(index % 4 < 2 ? bytes : inPieces(bytes, 9999), MAX),
      );
      const keys = new Set((await Promise.all(puts)).map(({ sha256 }) => sha256));
      expect([...keys]).toEqual([hashOf(bytes)]);
      expect(await place.countStored()).toBe(1);
      expect((await other.put(bytes, MAX)).sha256).toBe(hashOf(bytes));
      const many = await Promise.all(
        Array.from({ length: 60 }, (_, index) => store.put(Buffer.from(`blob ${index}`), MAX)),
      );
      for (const [index, { sha256 }] of many.entries())
        expect((await readAll(other, sha256))?.toString()).toBe(`blob ${index}`);
      expect(await place.countStored()).toBe(61);
      await other.close();
    }));
};
