import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { BlobStore } from '../port.ts';
import { type S3Credentials, S3Requests } from './s3/requests.ts';
import { S3BlobStore } from './s3/store.ts';
import { abortLeftovers } from './s3/upload.ts';

export type { S3Credentials } from './s3/requests.ts';

/** Options of {@link openS3BlobStore}. */
export interface S3BlobStoreOptions {
  /** Address of the store, for example `https://s3.eu-central-1.amazonaws.com` or `http://minio:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /** Asked for at every request, so that they may change. */
  readonly credentials: S3Credentials | (() => Promise<S3Credentials>);
  /** The bucket stands in the path rather than in the name of the host, default true; every store understands it. */
  readonly pathStyle?: boolean;
  /** In front of every key, default `blobs/`. */
  readonly prefix?: string;
  /** Longest wait for a connection, an answer, or the next bytes of one, in ms, default 5000. */
  readonly timeoutMs?: number;
  /** Attempts of each request, default 3. */
  readonly attempts?: number;
  /** Larger blobs are sent in parts of this size, in bytes, from 5 MiB, default 8 MiB. Also what a put holds in memory. */
  readonly partBytes?: number;
  /** Where larger ones wait until their hash is known, default the system's folder for temporary files. */
  readonly spoolFolder?: string;
  /** Hash whole blobs again while they are read; the body then ends in BlobDamaged when they have changed. Default true. */
  readonly verify?: boolean;
  /** Unfinished uploads older than this are removed at opening, in ms, default one day. */
  readonly leftoverAgeMs?: number;
  /** Told what does not keep the store from working: leftovers that could not be removed. */
  readonly onProblem?: (problem: unknown) => void;
}

const smallestPart = 5 * 1024 ** 2;

/**
 * Blobs as objects of an S3-compatible store, each under its SHA-256. An object appears whole or not at all; the store checks
 * what it is sent against its SHA-256. Opening does not need the store: it may come later.
 * @throws RangeError for options out of range; TypeError for an endpoint that is no address
 */
export const openS3BlobStore = async (options: S3BlobStoreOptions): Promise<BlobStore> => {
  const { credentials, attempts = 3, partBytes = 8 * 1024 ** 2, prefix = 'blobs/' } = options;
  if (partBytes < smallestPart) throw new RangeError(`partBytes is at least ${smallestPart}`);
  if (!/^[\w./-]*$/.test(prefix) || prefix.startsWith('/'))
    throw new RangeError('prefix has characters of [A-Za-z0-9_./-]');
  const requests = new S3Requests({
    endpoint: options.endpoint,
    bucket: options.bucket,
    region: options.region ?? 'us-east-1',
    pathStyle: options.pathStyle ?? true,
    credentials: typeof credentials === 'function' ? credentials : async () => credentials,
    timeoutMs: options.timeoutMs ?? 5000,
    attempts,
  });
  const clearing = abortLeftovers(requests, prefix, Date.now() - (options.leftoverAgeMs ?? 86_400_000));
  // A store that is silent holds nobody up; the clearing then ends by itself.
  const enough = new AbortController();
  const reported = clearing.catch((error: unknown) => options.onProblem?.(error)).finally(() => enough.abort());
  await Promise.race([
    reported,
    delay(options.timeoutMs ?? 5000, undefined, { signal: enough.signal }).catch(() => undefined),
  ]);
  return new S3BlobStore(requests, {
    ...{ prefix, attempts, partBytes },
    spoolFolder: options.spoolFolder ?? tmpdir(),
    verify: options.verify ?? true,
  });
};
