import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlobTooLarge } from '@bindery/blob-store';
import { limits, rawRoutes } from '@bindery/contracts';
import { invalid, isProblem, Problem } from '@bindery/service-kit';
import { serviceMetadata } from '../change-requests/index.ts';
import { checkContent, headBytes } from '../files/index.ts';
import { assertWaiting } from './decider.ts';
import type { StorageDeps } from './deps.ts';
import { checkKind } from './kinds.ts';
import type { UploadLinks } from './links.ts';

/** A route outside the JSON contract that takes files in. */
export interface UploadRoute {
  readonly method: 'PUT';
  readonly path: string;
  /** @throws Problem, which the gateway answers with */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Bytes before those of the file, at random: the blob is nobody else's then, so that it can be deleted without asking who
 * else has a file with the same content.
 */
export const uploadHeadBytes = 32;

/** For one upload, in ms. */
const timeoutMs = 300_000;
/** At a time in one process. */
const maxReceiving = 32;

/** The bytes with their head, while they pass by; what comes first is kept for a look at it. */
const passing = (source: AsyncIterable<Uint8Array>, head: Uint8Array, signal: AbortSignal) => {
  const first: Uint8Array[] = [];
  let [size, kept] = [0, 0];
  return {
    first: () => Buffer.concat(first).subarray(0, headBytes),
    size: () => size,
    async *bytes(): AsyncGenerator<Uint8Array> {
      yield head;
      for await (const chunk of source) {
        signal.throwIfAborted();
        if (kept < headBytes) {
          first.push(chunk);
          kept += chunk.length;
        }
        size += chunk.length;
        yield chunk;
      }
    },
  };
};

/** PUT of the bytes of an upload. The address is the authority; what it may be was decided when it was asked for. */
export const createUploadRoute = (deps: StorageDeps, links: UploadLinks): UploadRoute => {
  const { repository, blobs, clock, logger } = deps;
  let receiving = 0;

  const receive = async (key: string, request: IncomingMessage): Promise<void> => {
    const { state } = await repository.load(key);
    assertWaiting(state, clock.now().toISOString());
    const { size, name, contentType, kind, organizationId } = state;
    const declared = request.headers['content-length'];
    if (declared !== undefined && Number(declared) !== size)
      throw invalid('storage.wrong_size', `The upload was announced with ${size} bytes, not ${declared}.`);
    const signal = AbortSignal.timeout(timeoutMs);
    const pass = passing(request, randomBytes(uploadHeadBytes), signal);
    const onTimeout = (): void => void request.destroy(new Error('the upload took too long'));
    signal.addEventListener('abort', onTimeout, { once: true });
    let blob: string | undefined;
    try {
      blob = (await blobs.put(pass.bytes(), size + uploadHeadBytes)).sha256;
      if (pass.size() !== size)
        throw invalid('storage.wrong_size', `The upload was announced with ${size} bytes, and ${pass.size()} came.`);
      const facts = await checkContent({
        head: pass.first(),
        name,
        declared: contentType,
        strict: true,
        field: 'file',
      });
      checkKind(kind, facts.contentType, 'file');
      const now = clock.now();
      const keptUntil = new Date(now.getTime() + limits.storage.keptHours * 3_600_000).toISOString();
      const data = { blob, contentType: facts.contentType, uploadedAt: now.toISOString(), keptUntil };
      const cause = `storage:${key}:${blob}`;
      await repository.handle(key, { type: 'StoreUpload', data }, serviceMetadata(cause, organizationId, now));
    } catch (error) {
      // Refused, or another one was faster: nobody names these bytes. Of a store that did not answer it is not known whether the
      // event that names them was written (PITFALLS 9); better that they stay behind.
      if (blob !== undefined && isProblem(error) && error.kind !== 'unavailable') await blobs.delete(blob);
      if (error instanceof BlobTooLarge)
        throw invalid('storage.wrong_size', `The upload was announced with ${size} bytes, and more came.`);
      throw error;
    } finally {
      signal.removeEventListener('abort', onTimeout);
    }
  };

  return {
    method: 'PUT',
    path: rawRoutes.uploadFile.path,
    async handle(request, response) {
      const key = links.read(request.url ?? '');
      if (key === undefined) throw new Problem('not-found', 'storage.unknown', 'There is no such upload.');
      if (receiving >= maxReceiving)
        throw new Problem('unavailable', 'storage.busy', 'Too many files are being uploaded.', { retryAfter: 5 });
      receiving += 1;
      try {
        await receive(key, request);
        response.writeHead(204, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end();
      } catch (error) {
        logger.debug('an upload was refused', { key, reason: String(error) });
        throw error;
      } finally {
        receiving -= 1;
      }
    },
  };
};
