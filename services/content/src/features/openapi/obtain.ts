import { limits } from '@bindery/contracts';
import { type GuardedFetch, isFetchFailed } from '@bindery/guarded-fetch';
import type { SpecificationReader } from '@bindery/openapi-reader';
import { createIdSource } from '@bindery/service-kit';
import type { FinishOpenAPISpecProcessing } from './decider.ts';
import type { OpenAPIDeps } from './deps.ts';
import type { SpecSource } from './events.ts';

/** What came of the work on a source. */
export type Outcome = FinishOpenAPISpecProcessing['data']['outcome'];

const defaultFetchTimeoutMs = 20_000;
const maxRedirects = 5;
const accept = 'application/json, application/yaml, text/yaml, */*;q=0.5';

const collect = async (source: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    size += chunk.length;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

const fetchBytes = async (fetch: GuardedFetch, url: string, timeoutMs: number, signal: AbortSignal) => {
  const request = { method: 'GET', headers: { accept } } as const;
  const { body } = await fetch(url, { maxBytes: limits.openapi.bytes, timeoutMs, maxRedirects, request, signal });
  return collect(body);
};

/**
 * Fetches what a source names, reads it and stores it, as it came and as JSON. Failures of the source are outcomes; what is
 * thrown is no fault of the source.
 */
export const createObtain = (
  deps: Pick<OpenAPIDeps, 'fetch' | 'blobs' | 'fetchTimeoutMs'> & { readonly reader: SpecificationReader },
) => {
  const { fetch, blobs, reader, fetchTimeoutMs = defaultFetchTimeoutMs } = deps;

  const bytesOf = async (source: SpecSource, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
    if (source.kind === 'url') return fetchBytes(fetch, source.url, fetchTimeoutMs, signal);
    const stored = await blobs.get(source.sha256);
    if (stored === undefined) throw new Error(`the text of a specification is not in the blob store: ${source.sha256}`);
    return collect(stored.body);
  };

  return async (source: SpecSource, signal: AbortSignal): Promise<Outcome> => {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await bytesOf(source, signal);
    } catch (error) {
      if (!isFetchFailed(error) || signal.aborted) throw error;
      const code = error.reason === 'timeout' ? 'FETCH_TIMEOUT' : 'FETCH_ERROR';
      return { kind: 'failed', code, errors: [{ message: error.message, code: error.reason }] };
    }
    const raw = await blobs.put(bytes, limits.openapi.bytes);
    // The reader takes the bytes over.
    const reading = await reader.read(bytes, signal);
    if (!reading.ok) {
      const errors = reading.errors.slice(0, limits.openapi.errors);
      return { kind: 'failed', code: 'PARSE_ERROR', errors: errors.map(({ message, code }) => ({ message, code })) };
    }
    const json = Buffer.from(reading.json);
    const { format, specVersion, contentHash } = reading;
    const stored = await blobs.put(json, json.length);
    const versionId = createIdSource().id();
    return { kind: 'read', document: { versionId, raw, json: stored, format, specVersion, contentHash } };
  };
};
