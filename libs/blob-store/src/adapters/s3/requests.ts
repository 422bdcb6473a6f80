import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { kindOfFailure, S3Refusal } from './failures.ts';
import { textsOf } from './xml.ts';

/** What signs requests. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}

/** Where the store is and how it is asked. */
export interface S3RequestsOptions {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly pathStyle: boolean;
  readonly credentials: () => Promise<S3Credentials>;
  readonly timeoutMs: number;
  readonly attempts: number;
}

/** One request. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Of the object; absent: the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** SHA-256 of the body, hex, where it is known already. */
  readonly bodySha256?: string;
  /** Bytes that the store has to go through before it answers, beyond those of the body: some copy them at the end. */
  readonly workBytes?: number;
}

/** A success. */
export interface S3Answer {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

const emptySha256 = createHash('sha256').digest('hex');
/** Slowest acceptable upload, in bytes a second: a body gets this much time beyond `timeoutMs`. */
const slowestBytesPerSecond = 128 * 1024;
const mostAnswerBytes = 4 * 1024 ** 2;
const connections = 64;
/** Clocks that are further apart than this, in ms, may be why a request was refused; stores allow 15 minutes. */
const noticedSkewMs = 5 * 60_000;
/** Clocks that differ by less, in ms, are the same one: it is told in seconds, and takes its time to come. */
const sameClockMs = 10_000;
const firstBackoffMs = 100;
const lastBackoffMs = 2000;

/** Signed requests to one bucket. Each ends in bounded time; failures that may pass are tried again. */
export class S3Requests {
  readonly #options: S3RequestsOptions;
  readonly #agent: Agent;
  readonly #base: string;
  /** Signing keys, one a day. */
  #signingKeys = new Map<string, ArrayBuffer>();
  /** How far the clock of the store is ahead of ours, in ms, once it has refused us for that. */
  #aheadMs = 0;

  constructor(options: S3RequestsOptions) {
    this.#options = options;
    const { timeoutMs } = options;
    this.#agent = new Agent({
      connections,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const url = new URL(options.endpoint);
    if (!options.pathStyle) url.hostname = `${options.bucket}.${url.hostname}`;
    this.#base = `${url.origin}${url.pathname.replace(/\/$/, '')}${options.pathStyle ? `/${options.bucket}` : ''}`;
  }

  /**
   * Asks, up to `attempts` times. Everything that is asked here may be done twice.
   * @throws S3Refusal, or what the network threw
   */
  async send(asked: S3Request): Promise<S3Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendOnce(asked);
      } catch (error) {
        if (attempt >= this.#options.attempts || kindOfFailure(error) === 'refused') throw error;
      }
      await backoff(attempt);
    }
  }

  /**
   * Asks once for bytes. The caller reads the body or destroys it.
   * @throws S3Refusal, or what the network threw
   */
  async open(asked: S3Request): Promise<Dispatcher.ResponseData> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error('no answer in time')), this.#options.timeoutMs);
    try {
      const aheadMs = this.#aheadMs;
      const answer = await this.#dispatch(asked, timeout.signal, aheadMs);
      if (answer.statusCode < 300) return answer;
      throw await this.#refusal(answer, aheadMs);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #sendOnce(asked: S3Request): Promise<S3Answer> {
    const { timeoutMs } = this.#options;
    const bytes = (asked.body?.byteLength ?? 0) + (asked.workBytes ?? 0);
    const signal = AbortSignal.timeout(timeoutMs + Math.ceil((bytes / slowestBytesPerSecond) * 1000));
    const aheadMs = this.#aheadMs;
    const answer = await this.#dispatch(asked, signal, aheadMs);
    if (answer.statusCode >= 300) throw await this.#refusal(answer, aheadMs);
    const { headers } = answer;
    const text = await boundedText(answer.body);
    // What takes long is answered before it is done: the failure is then in the body (CompleteMultipartUpload).
    const [failure] = text.includes('<Error>') ? textsOf(text, 'Code') : [];
    if (failure !== undefined) throw new S3Refusal(failure === 'NoSuchUpload' ? 404 : 500, failure);
    return { headers, text };
  }

  /**
   * A store that refuses our clock has told its own: requests are signed by that one from here on. Refused by that one too, it
   * was told by something else in between, and ours counts again.
   * @param aheadMs by which the request was signed: others may have learnt since
   */
  async #refusal({ statusCode, headers, body }: Dispatcher.ResponseData, aheadMs: number): Promise<S3Refusal> {
    const text = await boundedText(body).catch(() => ''); // the status says enough
    const told = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
    const ahead = told - Date.now();
    const differs = Math.abs(ahead - aheadMs);
    const isInUse = aheadMs !== 0 && differs < sameClockMs;
    // An answer to HEAD has no body that would name the reason.
    const maySkew = statusCode === 403 && (differs > noticedSkewMs || isInUse);
    const named = textsOf(text, 'Code')[0] ?? (maySkew ? 'RequestTimeTooSkewed' : String(statusCode));
    if (named === 'RequestTimeTooSkewed' && Number.isFinite(told)) this.#aheadMs = isInUse ? 0 : ahead;
    return new S3Refusal(statusCode, named);
  }

  async #dispatch(asked: S3Request, signal: AbortSignal, aheadMs: number): Promise<Dispatcher.ResponseData> {
    const { method, key, query, body } = asked;
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const sha256 =
      asked.bodySha256 ?? (body === undefined ? emptySha256 : createHash('sha256').update(body).digest('hex'));
    if (this.#signingKeys.size > 16) this.#signingKeys = new Map();
    const signed = await new AwsV4Signer({
      ...(await this.#options.credentials()),
      method,
      url: `${this.#base}${key === undefined ? '' : `/${key}`}${search}`,
      // The store refuses a body that does not hash to this.
      headers: { ...asked.headers, 'x-amz-content-sha256': sha256 },
      service: 's3',
      region: this.#options.region,
      cache: this.#signingKeys,
      datetime: new Date(Date.now() + aheadMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    }).sign();
    return request(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      ...(body === undefined ? {} : { body }),
      dispatcher: this.#agent,
      signal,
      ...(asked.workBytes === undefined ? {} : { headersTimeout: 0, bodyTimeout: 0 }), // the signal ends it
    });
  }
}

/** Waits before another attempt; with jitter, since many may have failed at once. */
export const backoff = async (attempt: number): Promise<void> => {
  const full = Math.min(firstBackoffMs * 2 ** attempt, lastBackoffMs);
  await delay(full * (0.5 + Math.random() / 2));
};

const boundedText = async (body: Dispatcher.ResponseData['body']): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > mostAnswerBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
