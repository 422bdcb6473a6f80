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
      const answer = await requests.open({ method: 'GET', key: object.key, headers });
      let early = position - startOf(answer, position);
      for await (const chunk of answer.body) {
        // A store, or something in front of it, that knows no ranges begins at the beginning.
        const skipped = Math.min(early, chunk.byteLength);
        early -= skipped;
        const wanted: Uint8Array = chunk.subarray(skipped, skipped + end + 1 - position);
        if (wanted.byteLength === 0 && chunk.byteLength > skipped) break;
        if (wanted.byteLength === 0) continue;
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

/** The position of the first byte of an answer. @throws Error when it is not what was asked for */
const startOf = ({ statusCode, headers, body }: Awaited<ReturnType<S3Requests['open']>>, wanted: number): number => {
  if (statusCode === 200) return 0;
  const told = /^bytes (\d+)-/.exec(String(headers['content-range']))?.[1];
  if (statusCode === 206 && told !== undefined && Number(told) <= wanted) return Number(told);
  body.on('error', () => undefined).destroy(); // ended by ourselves, which it would report as an error
  throw new Error('the answer does not tell which bytes it has');
};
