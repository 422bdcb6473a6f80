import { createHash } from 'node:crypto';
import { BlobDamaged } from '../errors.ts';

/** The same bytes; throws after the last one unless they hash to `sha256`. */
export async function* verified(body: AsyncIterable<Uint8Array>, sha256: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new BlobDamaged(sha256);
}
