import { EventEmitter } from 'node:events';
import { type Dispatcher, Pool } from 'undici';
import { deadlineExceeded } from '../deadline.ts';

const connectTimeoutMs = 2_000;
/** Longest that an idle connection is kept, in ms: far below what services allow, so that they never close one in use. */
const idleMs = 30_000;

/**
 * How long connections are used before others are made, in ms: behind an address that stands for several replicas, connections
 * that stay lead to the same ones for ever, and a replica that is new gets nothing.
 */
const renewMs = 30_000;

/** Longest silence within an answer that may take as long as its caller is slow, in ms. */
const silenceMs = 30_000;

/** What is sent, once there is a connection for it. */
export type Sending = Omit<Dispatcher.RequestOptions, 'signal' | 'headersTimeout' | 'bodyTimeout'>;

/** Says once, and why, that a request is given up. An emitter, since a signal of its own for every request costs more than all else here. */
class GivingUp extends EventEmitter {
  aborted = false;
  reason: unknown;

  because(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}

/**
 * The connections to one replica for one kind of requests, and those that wait for one. The wait is here and not in the pool:
 * what waits there is neither told that its time is up nor let go, and costs a connection when its turn comes.
 */
export class Lane {
  readonly #origin: string;
  readonly #connections: number;
  readonly #transfers: boolean;
  readonly #renewMs: number;
  #pool: Pool;
  #renewAt = 0;
  /** Pools that end with what is under way on them. */
  readonly #leaving = new Set<Promise<void>>();
  #taken = 0;
  readonly #waiting = new Set<() => void>();
  #asked = 0;

  /**
   * @param connections at most so many at once
   * @param transfers whether answers may take as long as their callers are slow, once they have begun
   * @param renew how long connections are used, in ms
   */
  constructor(origin: string, connections: number, transfers: boolean, renew = renewMs) {
    this.#origin = origin;
    this.#connections = connections;
    this.#transfers = transfers;
    this.#renewMs = renew;
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
   * @param until when time for the answer is up, by the monotonic clock; of transfers, for its head
   * @param signal of the caller: ends the wait, and the answer too while it comes
   * @param sending told what is left of the time, in whole ms
   * @throws Problem `deadline.exceeded` as soon as time is up or the signal aborts, whatever the connection is at; also while
   *   the body is read
   */
  request(until: number, signal: AbortSignal, sending: (leftMs: number) => Sending): Promise<Dispatcher.ResponseData> {
    if (signal.aborted) return Promise.reject(deadlineExceeded.reasonOf(signal));
    const giving = new GivingUp();
    const timer = setTimeout(() => giving.because(deadlineExceeded.problem()), Math.max(1, until - performance.now()));
    const onAbort = (): void => giving.because(deadlineExceeded.reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    this.#asked += 1;
    const sent = this.#send(until, giving, over, sending);
    return new Promise<Dispatcher.ResponseData>((resolve, reject) => {
      giving.once('abort', () => reject(giving.reason));
      sent.then(
        (response) => {
          if (this.#transfers) clearTimeout(timer);
          resolve(response);
        },
        (error: unknown) => {
          over();
          reject(error);
        },
      );
    }).finally(() => {
      this.#asked -= 1;
    });
  }

  async #send(
    until: number,
    giving: GivingUp,
    over: () => void,
    sending: (leftMs: number) => Sending,
  ): Promise<Dispatcher.ResponseData> {
    if (this.#taken < this.#connections) this.#taken += 1;
    else await this.#turn(giving);
    try {
      if (performance.now() >= this.#renewAt) this.leave();
      const options = sending(Math.max(1, Math.ceil(until - performance.now())));
      const bodyTimeout = this.#transfers ? silenceMs : 0;
      const response = await this.#pool.request({ ...options, signal: giving, headersTimeout: 0, bodyTimeout });
      response.body.once('close', () => {
        over();
        this.#next();
      });
      return response;
    } catch (error) {
      this.#next();
      throw error;
    }
  }

  /** Settles with a connection that somebody leaves. @throws why the request is given up */
  #turn(giving: GivingUp): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        giving.off('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(admit);
        reject(giving.reason);
      };
      giving.once('abort', leave);
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
    // Not all at the same moment.
    this.#renewAt = performance.now() + this.#renewMs * (0.75 + Math.random() / 2);
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
