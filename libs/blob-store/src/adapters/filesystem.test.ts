import { appendFile, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describeBlobStoreConformance, killAfterLines, seededRandom } from '@bindery/testing';
import { expect, test } from '@jest/globals';
import { openFilesystemBlobStore } from './filesystem.ts';

const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'bindery-blob-store-'));

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describeBlobStoreConformance('filesystem', {
  createPlace: async () => {
    const folder = await temporaryFolder();
    return {
      open: () => openFilesystemBlobStore({ folder }),
      countStored: async () => (await filesIn(folder)).length,
      leaveUnfinished: async () => {
        const path = join(folder, 'incoming', 'unfinished');
        await writeFile(path, 'half');
        await utimes(path, 1, 1);
      },
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});

const drain = async (body: AsyncIterable<Uint8Array> | undefined): Promise<void> => {
  for await (const chunk of body ?? []) expect(chunk.byteLength).toBeGreaterThan(0);
};

test('changed and cut files are noticed while reading; storing the stream again repairs them', async () => {
  const folder = await temporaryFolder();
  const store = await openFilesystemBlobStore({ folder });
  const trusting = await openFilesystemBlobStore({ folder, verify: false });
  const { sha256 } = await store.put(Buffer.from('the content'), 100);
  const [path = ''] = await filesIn(folder);
  const damaged = { code: 'blob_store.damaged', sha256 };
  await writeFile(path, 'THE CONTENT');
  await expect(drain((await store.get(sha256))?.body)).rejects.toMatchObject(damaged);
  await drain((await trusting.get(sha256))?.body);
  const found = await trusting.get(sha256);
  await truncate(path, 3);
  await expect(drain(found?.body)).rejects.toMatchObject(damaged);
  await store.put(Buffer.from('the content'), 100);
  await drain((await store.get(sha256))?.body);
  await rm(folder, { recursive: true });
});

test('unfinished files of a living process stay', async () => {
  const folder = await temporaryFolder();
  await openFilesystemBlobStore({ folder });
  await appendFile(join(folder, 'incoming', 'in-progress'), 'half');
  await openFilesystemBlobStore({ folder });
  expect(await readdir(join(folder, 'incoming'))).toEqual(['in-progress']);
  await openFilesystemBlobStore({ folder, leftoverAgeMs: 0 });
  expect(await readdir(join(folder, 'incoming'))).toEqual([]);
  await rm(folder, { recursive: true });
});

test('a folder that cannot be used is reported as such', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  await expect(openFilesystemBlobStore({ folder: join(folder, 'file') })).rejects.toMatchObject({
    code: 'blob_store.unavailable',
  });
  await rm(folder, { recursive: true });
});

test('killed at any instant, every acknowledged blob is whole and nothing half is named like one', async () => {
  const folder = await temporaryFolder();
  const writer = new URL('./filesystem/crash-writer.ts', import.meta.url).pathname;
  const random = seededRandom(Date.now());
  const acknowledged: string[] = [];
  for (let round = 0; round < 3; round++) {
    acknowledged.push(...(await killAfterLines(writer, [folder], 5 + random.below(40))));
    const store = await openFilesystemBlobStore({ folder, leftoverAgeMs: 0 });
    expect(await readdir(join(folder, 'incoming'))).toEqual([]);
    const present = (await filesIn(join(folder, 'blobs'))).map((path) => basename(path));
    expect(present).toEqual(expect.arrayContaining(acknowledged));
    for (const sha256 of present) await drain((await store.get(sha256))?.body);
  }
  await rm(folder, { recursive: true });
});
