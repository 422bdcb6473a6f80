import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type BlobStoreHarness, readAll, withBlobStore } from './harness.ts';

const HOSTILE = [
  '',
  '.',
  '..',
  '../../etc/passwd',
  `${'a'.repeat(62)}/x`,
  `../${'a'.repeat(61)}`,
  'A'.repeat(64),
  'g'.repeat(64),
  'a'.repeat(63),
  'a'.repeat(65),
  `${'a'.repeat(64)}\n`,
  `${'a'.repeat(63)}\0`,
  '%2e%2e%2f'.repeat(7),
];

/** Reads, ranges, keys, deletion, restarts. */
export const reading = (harness: BlobStoreHarness): void => {
  test('ranges are inclusive and must be inside', () =>
    withBlobStore(harness, async (store) => {
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
      const { sha256 } = await store.put(bytes, bytes.byteLength);
      for (const [start, end] of [
        [0, 0],
        [0, 199_999],
        [199_999, 199_999],
        [65_535, 131_073],
        [5, 9],
      ] as const) {
        const found = await store.get(sha256, { start, end });
        expect(found?.size).toBe(200_000);
        expect((await readAll(store, sha256, { start, end }))?.equals(bytes.subarray(start, end + 1))).toBe(true);
      }
      for (const [start, end] of [
        [0, 200_000],
        [-1, 5],
        [6, 5],
        [0.5, 7],
        [200_000, 200_001],
        [Number.NaN, 1],
      ] as const)
        await expect(store.get(sha256, { start, end })).rejects.toThrow(RangeError);
    }));

  test('a reader may stop early, or never begin, and others are not disturbed', () =>
    withBlobStore(harness, async (store) => {
      const { sha256 } = await store.put(new Uint8Array(1_000_000), 1_000_000);
      for (let turn = 0; turn < 50; turn++) {
        await store.get(sha256);
        for await (const chunk of (await store.get(sha256))?.body ?? []) if (chunk.byteLength > 0) break;
      }
      expect((await readAll(store, sha256))?.byteLength).toBe(1_000_000);
    }));

  test('nothing but a hash is a key', () =>
    withBlobStore(harness, async (store) => {
      const invalid = { code: 'blob_store.invalid_key' };
      for (const key of HOSTILE) {
        await expect(store.stat(key)).rejects.toMatchObject(invalid);
        await expect(store.get(key)).rejects.toMatchObject(invalid);
        await expect(store.delete(key)).rejects.toMatchObject(invalid);
      }
    }));

  test('what is absent is undefined; deleting tells whether it was there', () =>
    withBlobStore(harness, async (store, place) => {
      const absent = createHash('sha256').update('absent').digest('hex');
      expect([await store.stat(absent), await store.get(absent), await store.delete(absent)]).toEqual([
        undefined,
        undefined,
        false,
      ]);
      const { sha256 } = await store.put(Buffer.from('x'), 1);
      expect([await store.delete(sha256), await store.delete(sha256), await store.stat(sha256)]).toEqual([
        true,
        false,
        undefined,
      ]);
      expect(await place.countStored()).toBe(0);
      await store.put(Buffer.from('x'), 1);
      expect((await readAll(store, sha256))?.toString()).toBe('x');
    }));

  test('after a restart everything is there and the leftovers of a crash are gone', async () => {
    const place = await harness.createPlace();
    const first = await place.open();
    const { sha256 } = await first.put(Buffer.from('kept'), 100);
    await first.close();
    await place.leaveUnfinished();
    expect(await place.countStored()).toBe(2);
    const second = await place.open();
    expect(await place.countStored()).toBe(1);
    expect((await readAll(second, sha256))?.toString()).toBe('kept');
    await second.close();
    await place.dispose();
  });

  test('a closed store says so, and closing twice is fine', async () => {
    const place = await harness.createPlace();
    const store = await place.open();
    await store.close();
    await store.close();
    const unavailable = { code: 'blob_store.unavailable' };
    const key = 'a'.repeat(64);
    await expect(store.put(new Uint8Array(1), 1)).rejects.toMatchObject(unavailable);
    await expect(store.stat(key)).rejects.toMatchObject(unavailable);
    await expect(store.get(key)).rejects.toMatchObject(unavailable);
    await expect(store.delete(key)).rejects.toMatchObject(unavailable);
    await place.dispose();
  });
};
