import { Redis } from 'ioredis';
import { Circuit } from './circuit.ts';
import { isUnknownScript, kindOfFailure } from './failures.ts';
import type { Script } from './scripts.ts';

/** What a {@link Connection} needs. */
export interface ConnectionOptions {
  readonly url: string;
  /** A key that nobody uses. */
  readonly probeKey: string;
  readonly timeoutMs: number;
  readonly onChange: (available: boolean, reason?: string) => void;
}

const longestReconnectMs = 1000;

/** One connection that comes back by itself, behind a circuit. Commands of one turn of the loop go out together. */
export class Connection {
  readonly #client: Redis;
  readonly #circuit: Circuit;

  constructor({ url, probeKey, timeoutMs, onChange }: ConnectionOptions) {
    this.#client = new Redis(url, {
      lazyConnect: true,
      enableAutoPipelining: true,
      // Gathered already; a pipeline would wait for one more turn.
      autoPipeliningIgnoredCommands: ['mget'],
      // Nothing waits in a queue for a server that is away, and nothing is sent a second time (PITFALLS 41).
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 1,
      // The circuit has given up long before; this frees what the client itself still holds.
      commandTimeout: timeoutMs * 4,
      connectTimeout: timeoutMs * 4,
      // Connected is enough, the circuit's probe says the rest. RESP2: no handshake that a silent server could hold up.
      enableReadyCheck: false,
      protocol: 2,
      disableClientInfo: true,
      retryStrategy: (attempt) => Math.min(25 * 2 ** Math.min(attempt, 10), longestReconnectMs),
    });
    this.#circuit = new Circuit({
      timeoutMs,
      probe: () => this.#probe(probeKey),
      onUseless: () => this.#client.disconnect(true),
      onChange,
    });
    // Before the first await: without it the first failure ends the process.
    this.#client.on('error', (error: Error) => this.#circuit.trip(error.message));
    this.#client.on('close', () => this.#circuit.trip());
  }

  /** Connects; resolves when the server answers, or after `withinMs` when it does not (yet). */
  async open(withinMs: number): Promise<void> {
    this.#client.connect().catch((error: Error) => this.#circuit.trip(error.message));
    this.#circuit.trip('not connected yet');
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([this.#circuit.recovered, enough]);
    clearTimeout(timer);
  }

  /** @throws CacheUnavailable */
  command<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    return this.#circuit.run(() => work(this.#client));
  }

  /** Runs a script by its hash; a server that does not know it (new, or flushed) is given it. @throws CacheUnavailable */
  run({ lua, sha }: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    return this.command(async (client) => {
      try {
        return await client.evalsha(sha, 1, key, ...args);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return client.eval(lua, 1, key, ...args);
      }
    });
  }

  /**
   * A write that changes nothing. A server that was demoted, or one of a cluster, answers a ping as if all were well. One that
   * is full or may not write for now still reads, and says at each command what it cannot do.
   */
  async #probe(key: string): Promise<void> {
    try {
      await this.#client.del(key);
    } catch (error) {
      if (kindOfFailure(error) !== 'refused') throw error;
    }
  }

  async close(): Promise<void> {
    const stopped = this.#circuit.stop();
    this.#client.disconnect();
    await stopped;
  }
}
