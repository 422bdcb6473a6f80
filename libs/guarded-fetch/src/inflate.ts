import { type Duplex, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FetchFailed } from './errors.ts';
import type { Exchange } from './exchange.ts';

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * The body of an answer, decompressed although nothing compressed was asked for, cut off with an error once it has more
 * than `maxBytes` inflated bytes. The connection is dropped when the reader stops or fails.
 */
export async function* inflated(
  exchange: Exchange,
  maxBytes: number,
  explain: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new FetchFailed('too-large', `The answer is larger than ${maxBytes} bytes.`);
  try {
    const encoding = (exchange.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
    const plain = encoding === 'identity' || encoding === '';
    if (plain && Number(exchange.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const decoder = plain ? undefined : decoders[encoding]?.();
    if (!plain && decoder === undefined)
      throw new FetchFailed('bad-status', 'The answer has a content encoding that is not known.');
    let size = 0;
    // The reader of the last stream sees every failure, so that the callback has nothing to do.
    const source = decoder === undefined ? exchange.message : pipeline(exchange.message, decoder, () => undefined);
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      yield chunk;
    }
  } catch (error) {
    throw explain(
      error instanceof FetchFailed ? error : new FetchFailed('unreachable', 'The answer broke off.', { cause: error }),
    );
  } finally {
    exchange.close();
  }
}
