import { setTimeout as delay } from 'node:timers/promises';
import { CacheUnavailable } from '../../errors.ts';
import { isRefusal, kindOfFailure, translated } from './failures.ts';

/** What a {@link Circuit} needs. */
export interface CircuitOptions {
  /** Longest wait for one answer, in ms. */
  readonly timeoutMs: number;
  /** Resolves when the server can be used for reading and writing. */
  readonly probe: () => Promise<unknown>;
  /**
   * Told when a probe was not answered in time: the connection may be dead without knowing; and when it was answered by a
   * server that cannot serve: after a failover the address leads to another one, this connection does not.
   */
  readonly onUseless: () => void;
  readonly onChange: (available: boolean, reason?: string) => void;
}

const firstProbeMs = 25;
const longestProbeMs = 1000;
const longestStallMs = 50;
/** Lost again so soon after it was found, in ms, the server counts as never found: the waits go on to grow. */
const steadyMs = 2000;

/**
 * Guards commands: each is answered within `timeoutMs`. After one that was not, or that showed the server to be away, all
 * are refused at once until a probe succeeds; probes are sent 25 ms later, then twice as late each time, up to a second; so
 * a server that is found and lost again and again is asked, and reported, once a second at most.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  readonly #stop = new AbortController();
  #available = false;
  #reason = 'not connected yet';
  #probing: Promise<void> | undefined;
  #waitMs = firstProbeMs;
  #foundAt = Number.NEGATIVE_INFINITY;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** @throws CacheUnavailable */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#available) throw new CacheUnavailable(`Redis cannot be used now (${this.#reason})`);
    try {
      return await this.#inTime(work());
    } catch (error) {
      if (kindOfFailure(error) === 'down') this.trip(error instanceof Error ? error.message : 'unknown');
      throw translated(error);
    }
  }

  /** Refuses commands from now on, until a probe succeeds. Without a reason the one that is known stays. */
  trip(reason?: string): void {
    if (this.#stop.signal.aborted) return;
    if (reason !== undefined || this.#available) this.#reason = reason ?? 'the connection is closed';
    if (this.#available) {
      this.#available = false;
      this.#options.onChange(false, this.#reason);
    }
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
  }

  /** The probing under way, if any; resolves when it succeeded or was stopped. */
  get recovered(): Promise<void> {
    return this.#probing ?? Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#probing;
  }

  async #probe(): Promise<void> {
    const { signal } = this.#stop;
    if (performance.now() - this.#foundAt > steadyMs) this.#waitMs = firstProbeMs;
    while (!signal.aborted) {
      const waitMs = this.#waitMs;
      this.#waitMs = Math.min(waitMs * 2, longestProbeMs);
      // Jitter: all replicas lose the server at the same moment.
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(ignoreAbort);
      if (signal.aborted) return;
      try {
        await this.#inTime(this.#options.probe());
        this.#foundAt = performance.now();
        this.#available = true;
        this.#options.onChange(true);
        return;
      } catch (error) {
        if (error instanceof CacheUnavailable || isRefusal(error)) {
          this.#reason = error instanceof Error ? error.message : 'unknown';
          if (!signal.aborted) this.#options.onUseless();
        }
      }
    }
  }

  /**
   * A timer that fires late says that this process was busy, not that the server was: the answer, which may not even have
   * been asked for yet, gets the time once more; and always one turn of the loop, in which what has arrived is read.
   */
  #inTime<T>(work: Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const begun = performance.now();
      const late = (): void => reject(new CacheUnavailable(`Redis did not answer within ${timeoutMs} ms`));
      let timer = setTimeout(() => {
        const stalled = performance.now() - begun > timeoutMs + longestStallMs;
        if (stalled) timer = setTimeout(() => setImmediate(late), timeoutMs);
        else setImmediate(late);
      }, timeoutMs);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** The only failure of an aborted wait. */
const ignoreAbort = (): undefined => undefined;
