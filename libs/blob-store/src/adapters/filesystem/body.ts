import { open } from 'node:fs/promises';
import { BlobDamaged } from '../../errors.ts';

const READ_BYTES = 64 * 1024;

/** The bytes from `start` to `end` (inclusive) of a file, which is closed at the end, early or not. */
export async function* readBody(path: string, start: number, end: number, sha256: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    for (let position = start; position <= end; ) {
      const length = Math.min(READ_BYTES, end + 1 - position);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), { position });
      if (bytesRead === 0) throw new BlobDamaged(sha256);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
