import { setTimeout as delay } from 'node:timers/promises';
import { CacheUnavailable } from '../../errors.ts';
import { kindOfFailure, translated } from './failures.ts';

/** What a {@link Circuit} needs. */
export interface CircuitOptions {
  /** Longest wait for one answer, in ms. */
  readonly timeoutMs: number;
  /** Resolves when the server answers. */
  readonly probe: () => Promise<unknown>;
  /** Told when a probe was not answered in time: the connection may be dead without knowing. */
  readonly onSilence: () => void;
  readonly onChange: (available: boolean, reason?: string) => void;
}

const firstProbeMs = 25;
const longestProbeMs = 1000;
const longestStallMs = 50;

/**
 * Guards commands: each is answered within `timeoutMs`. After one that was not, or that showed the server to be away, all
 * are refused at once until a probe succeeds; probes are sent 25 ms later, then twice as late each time, up to a second.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  readonly #stop = new AbortController();
  #available = false;
  #reason = 'not connected yet';
  #probing: Promise<void> | undefined;

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

  /** Refuses commands from now on, until a probe succeeds. */
  trip(reason: string): void {
    if (this.#stop.signal.aborted) return;
    this.#reason = reason;
    if (this.#available) {
      this.#available = false;
      this.#options.onChange(false, reason);
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
    for (let waitMs = firstProbeMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestProbeMs)) {
      // Jitter: all replicas lose the server at the same moment.
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(ignoreAbort);
      if (signal.aborted) return;
      try {
        await this.#inTime(this.#options.probe());
        this.#available = true;
        this.#options.onChange(true);
        return;
      } catch (error) {
        this.#reason = error instanceof Error ? error.message : 'unknown';
        if (error instanceof CacheUnavailable && !signal.aborted) this.#options.onSilence();
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
