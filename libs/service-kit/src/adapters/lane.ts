import { type Dispatcher, Pool } from 'undici';
import type { GivingUp } from './giving-up.ts';
import { type Answer, Collector, type OnHead } from './whole-answer.ts';

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
   * @param until when time for the answer is up, by the monotonic clock
   * @param giving ends the wait, and the answer too while it comes
   * @param sending told what is left of the time, in whole ms
   * @throws why it is given up, as soon as it is, whatever the connection is at; also while the body is read
   */
  request(until: number, giving: GivingUp, sending: (leftMs: number) => Sending): Promise<Dispatcher.ResponseData> {
    return this.#owing(giving, () => this.#stream(until, giving, sending));
  }

  /**
   * The same, with an answer that is there in whole.
   * @param onHead told of its head before
   */
  whole(until: number, giving: GivingUp, sending: (leftMs: number) => Sending, onHead: OnHead): Promise<Answer> {
    if (giving.aborted) return Promise.reject(giving.reason);
    this.#asked += 1;
    return new Promise((resolve, reject) => {
      let owed = true;
      const heard = (): void => {
        if (owed) this.#asked -= 1;
        owed = false;
      };
      const onAbort = (): void => {
        heard();
        reject(giving.reason);
      };
      const failed = (error: unknown): void => {
        giving.off('abort', onAbort);
        heard();
        reject(error);
      };
      giving.once('abort', onAbort);
      const send = (): void => {
        const collector = new Collector(giving, {
          onHead(head) {
            heard();
            onHead(head);
          },
          onAnswer: (answer) => {
            giving.off('abort', onAbort);
            this.#next();
            resolve(answer);
          },
          onFailed: (error) => {
            this.#next();
            failed(error);
          },
        });
        // First, since it may renew the pool.
        const options = this.#timed(until, sending);
        this.#pool.dispatch(options, collector);
      };
      if (this.#taken < this.#connections) {
        this.#taken += 1;
        send();
      } else this.#turn(giving).then(send, failed);
    });
  }

  /** Counts as asked until it has a head, and is over for its caller as soon as it is given up. */
  #owing<T>(giving: GivingUp, work: () => Promise<T>): Promise<T> {
    if (giving.aborted) return Promise.reject(giving.reason);
    this.#asked += 1;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => reject(giving.reason);
      giving.once('abort', onAbort);
      work()
        .then(resolve, reject)
        .finally(() => giving.off('abort', onAbort));
    }).finally(() => {
      this.#asked -= 1;
    });
  }

  async #stream(
    until: number,
    giving: GivingUp,
    sending: (leftMs: number) => Sending,
  ): Promise<Dispatcher.ResponseData> {
    if (this.#taken < this.#connections) this.#taken += 1;
    else await this.#turn(giving);
    try {
      // First, since it may renew the pool.
      const options = this.#timed(until, sending);
      const response = await this.#pool.request({ ...options, signal: giving });
      response.body.once('close', () => this.#next());
      return response;
    } catch (error) {
      this.#next();
      throw error;
    }
  }

  /** What is sent now, if it is on time. */
  #timed(until: number, sending: (leftMs: number) => Sending): Dispatcher.RequestOptions {
    const now = performance.now();
    if (now >= this.#renewAt) this.leave();
    const options: Dispatcher.RequestOptions = sending(Math.max(1, Math.ceil(until - now)));
    options.headersTimeout = 0;
    options.bodyTimeout = this.#transfers ? silenceMs : 0;
    return options;
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
