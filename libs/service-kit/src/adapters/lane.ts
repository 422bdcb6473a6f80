import { type Dispatcher, Pool } from 'undici';
import { deadlineExceeded } from '../deadline.ts';

const connectTimeoutMs = 2_000;
/** Longest that an idle connection is kept, in ms: far below what services allow, so that they never close one in use. */
const idleMs = 30_000;

/** What is sent, once there is a connection for it. */
export type Sending = Omit<Dispatcher.RequestOptions, 'signal' | 'headersTimeout' | 'bodyTimeout'>;

/**
 * The connections to one replica for one kind of requests, and those that wait for one. The wait is here and not in the pool:
 * what waits there is neither told that its time is up nor let go, and costs a connection when its turn comes.
 */
export class Lane {
  readonly #origin: string;
  readonly #connections: number;
  #pool: Pool;
  /** Pools that end with what is under way on them. */
  readonly #leaving = new Set<Promise<void>>();
  #taken = 0;
  readonly #waiting = new Set<() => void>();
  #asked = 0;

  /** @param connections at most so many at once */
  constructor(origin: string, connections: number) {
    this.#origin = origin;
    this.#connections = connections;
    this.#pool = this.#open();
  }

  /** Requests that have no answer yet, those that wait for a connection among them. */
  get asked(): number {
    return this.#asked;
  }

  /** Gives up all idle connections. */
  leave(): void {
    const pool = this.#pool;
    this.#pool = this.#open();
    this.#close(pool);
  }

  async close(): Promise<void> {
    this.#close(this.#pool);
    await Promise.all(this.#leaving);
  }

  /**
   * Sends a request when it has a connection, which is free again when the body of the answer has been read or given up.
   * @param until when time for the head of the answer is up, by the monotonic clock; the body has no more than as long without a byte
   * @param signal of the caller: ends the wait, and the answer too while it comes
   * @param sending told what is left of the time, in whole ms
   * @throws Problem `deadline.exceeded` as soon as time is up or the signal aborts, whatever the connection is at
   */
  async request(
    until: number,
    signal: AbortSignal,
    sending: (leftMs: number) => Sending,
  ): Promise<Dispatcher.ResponseData> {
    const own = new AbortController();
    const timer = setTimeout(() => own.abort(deadlineExceeded.problem()), Math.max(1, until - performance.now()));
    const onAbort = (): void => own.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const end = (): void => signal.removeEventListener('abort', onAbort);
    this.#asked += 1;
    try {
      if (signal.aborted) onAbort();
      const response = await deadlineExceeded.race(own.signal, () => this.#connected(until, own.signal, sending));
      response.body.once('close', end);
      return response;
    } catch (error) {
      end();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#asked -= 1;
    }
  }

  async #connected(
    until: number,
    signal: AbortSignal,
    sending: (leftMs: number) => Sending,
  ): Promise<Dispatcher.ResponseData> {
    if (this.#taken < this.#connections) this.#taken += 1;
    else await this.#turn(signal);
    const leftMs = Math.max(1, Math.ceil(until - performance.now()));
    try {
      const options = { ...sending(leftMs), signal, headersTimeout: 0, bodyTimeout: leftMs };
      const response = await this.#pool.request(options);
      response.body.once('close', () => this.#next());
      return response;
    } catch (error) {
      this.#next();
      throw error;
    }
  }

  /** Settles with a connection that somebody leaves. @throws the reason of the signal */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(admit);
    });
  }

  /** Hands a connection on to whoever has waited longest. */
  #next(): void {
    const [admit] = this.#waiting;
    if (admit === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(admit);
    admit();
  }

  #open(): Pool {
    return new Pool(this.#origin, {
      connections: this.#connections,
      pipelining: 1,
      connect: { timeout: connectTimeoutMs },
      keepAliveMaxTimeout: idleMs,
    });
  }

  #close(pool: Pool): void {
    const left = pool.close().finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}
