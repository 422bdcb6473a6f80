import { BlobDamaged } from '../../errors.ts';
import { isMissing, kindOfFailure, translated } from './failures.ts';
import { backoff, type S3Requests } from './requests.ts';

/**
 * The bytes from `start` to `end` (inclusive) of an object. The first request is made when they are first read, so that a
 * body nobody reads holds nothing; a connection that breaks is taken up again where it ended.
 * @throws BlobStoreUnavailable, BlobDamaged
 */
export async function* readObject(
  requests: S3Requests,
  object: { readonly key: string; readonly sha256: string; readonly attempts: number },
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let position = start;
  let failures = 0;
  while (position <= end) {
    try {
      const headers = { range: `bytes=${position}-${end}` };
      for await (const chunk of await requests.open({ method: 'GET', key: object.key, headers })) {
        const wanted: Uint8Array = chunk.subarray(0, end + 1 - position);
        if (wanted.byteLength === 0) break;
        position += wanted.byteLength;
        failures = 0;
        yield wanted;
      }
      if (position <= end) throw new Error('the answer is too short');
    } catch (error) {
      if (isMissing(error)) throw new BlobDamaged(object.sha256);
      failures += 1;
      if (failures >= object.attempts || kindOfFailure(error) === 'refused') throw translated(error);
      await backoff(failures);
    }
  }
}
