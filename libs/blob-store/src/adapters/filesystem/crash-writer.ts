/** Stores blobs without end and prints the keys that have been acknowledged. Run and killed by the crash test. */
import { randomBytes } from 'node:crypto';
import { openFilesystemBlobStore } from '../filesystem.ts';

const [, , folder = ''] = process.argv;
const store = await openFilesystemBlobStore({ folder });

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 5; piece++) yield randomBytes(20_000);
}

const write = async (): Promise<void> => {
  const { sha256 } = await store.put(pieces(), 1_000_000);
  process.stdout.write(`${sha256}\n`);
};

for (;;) await Promise.all([write(), write(), write()]);
