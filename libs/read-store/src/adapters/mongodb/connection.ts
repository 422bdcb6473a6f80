import { clearTimeout, setTimeout } from 'node:timers';
import { type Db, type DbOptions, MongoClient, type MongoClientOptions, ReadConcern } from 'mongodb';
import { ReadStoreUnavailable } from '../../port.ts';
import { type Deployment, deploymentOf, HELLO } from './deployment.ts';
import { translate } from './errors.ts';
import { applyLibraryFixes } from './library-fixes.ts';

/** What {@link Connection} needs to know. */
export interface ConnectionOptions {
  readonly url: string;
  readonly database: string;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly durable: boolean;
  readonly applicationName: string;
}

/** Methods that may be under way at once; beyond it callers are told to come back. */
const MAX_IN_FLIGHT = 20_000;
/** How long an index build or a compaction may take. */
const MAINTENANCE_MS = 30 * 60_000;
const MAX_CONNECTING = 8;
const HEARTBEAT_MS = 5000;

/**
 * The driver's clients with limits on everything: one for the work of every day, and one, made when it is first needed,
 * for commands that take long (index builds), whose connections must not be cut after seconds.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: MongoClient;
  #database: Db;
  #deployment: Deployment = 'single';
  #maintenance: MongoClient | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  /** @throws TypeError when the address is malformed; the message does not repeat it, since it may hold a password */
  constructor(options: ConnectionOptions) {
    applyLibraryFixes();
    this.#options = options;
    this.#client = this.#newClient(options.timeoutMs, options.maxConnections);
    this.#database = this.#databaseOf(this.#client);
  }

  /** @throws ReadStoreUnavailable */
  async open(): Promise<void> {
    try {
      await this.run(() => this.#client.connect());
      this.#deployment = deploymentOf(await this.run(() => this.#client.db('admin').command(HELLO)));
      this.#database = this.#databaseOf(this.#client);
    } catch (error) {
      await this.#client.close();
      throw error;
    }
  }

  get database(): Db {
    return this.#database;
  }

  /** Known once it is open. */
  get deployment(): Deployment {
    return this.#deployment;
  }

  /** Milliseconds that the server may spend on one operation of every day. */
  get maxTimeMS(): number {
    return this.#options.timeoutMs;
  }

  /**
   * Runs one method of the port: refused when the store is closed or too many are under way; closing waits for it.
   * @throws ReadStoreUnavailable
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    if (this.#inFlight >= MAX_IN_FLIGHT) throw new ReadStoreUnavailable('too many operations are under way');
    this.#inFlight++;
    try {
      return await work();
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#idle?.();
    }
  }

  /**
   * Runs one command: answered in bounded time whatever the driver does, its errors translated.
   * @throws ReadStoreUnavailable
   */
  run<T>(command: () => Promise<T>): Promise<T> {
    return within(command, this.#options.timeoutMs);
  }

  /** As {@link run}, for commands that may take minutes. */
  maintain<T>(commands: (database: Db) => Promise<T>): Promise<T> {
    return within(() => {
      this.#maintenance ??= this.#newClient(MAINTENANCE_MS, 2);
      return commands(this.#databaseOf(this.#maintenance));
    }, MAINTENANCE_MS);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new ReadStoreUnavailable('the read store is closed');
  }

  /** Refuses further operations, waits for those under way (each is bounded), closes the connections. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      if (this.#inFlight > 0)
        await new Promise<void>((resolve) => {
          this.#idle = resolve;
        });
      await this.#client.close();
      await this.#maintenance?.close();
    })();
    return this.#closing;
  }

  /** What is promised of reads and writes, said here because what an address says of them wins over what a client says. */
  #databaseOf(client: MongoClient): Db {
    const { database, durable } = this.#options;
    const promises: DbOptions = {
      readPreference: 'primary',
      // What is not held by a majority yet may be taken back: harmless where it is written again from the events, but an
      // event that was sealed with a key that is gone is lost. A server alone takes nothing back.
      readConcern: new ReadConcern(durable && this.#deployment !== 'single' ? 'majority' : 'local'),
      // A write that a change of primaries could take back would leave a hole behind a checkpoint.
      writeConcern: durable ? { w: 'majority', journal: true } : { w: 'majority' },
    };
    return client.db(database, promises);
  }

  #newClient(timeoutMs: number, maxPoolSize: number): MongoClient {
    const { applicationName, timeoutMs: everyDayMs, url } = this.#options;
    const named = optionsOf(url);
    const settings: MongoClientOptions = {
      appName: applicationName,
      // The server is chosen, and a connection made, in time for the command itself to be answered.
      serverSelectionTimeoutMS: Math.ceil(everyDayMs * 0.75),
      connectTimeoutMS: Math.ceil(everyDayMs * 0.75),
      // Past the deadline nobody waits for the answer: give the connection up.
      socketTimeoutMS: timeoutMs + 1000,
      waitQueueTimeoutMS: timeoutMs,
      heartbeatFrequencyMS: HEARTBEAT_MS,
      ...(named.has('maxpoolsize') ? {} : { maxPoolSize }),
      minPoolSize: 0,
      maxConnecting: MAX_CONNECTING,
      maxIdleTimeMS: 60_000,
      // On unless the address says otherwise, as it has to for servers that refuse them; without effect on a server alone.
      ...(named.has('retrywrites') ? {} : { retryWrites: true }),
      retryReads: true,
      ignoreUndefined: false,
    };
    try {
      return new MongoClient(url, settings);
    } catch {
      throw new TypeError('the address of the document database is malformed, or names options that it does not have');
    }
  }
}

/** Names of the options of an address, in lower case. */
const optionsOf = (url: string): ReadonlySet<string> =>
  new Set([...new URLSearchParams(url.split('?')[1] ?? '').keys()].map((name) => name.toLowerCase()));

/** @throws ReadStoreUnavailable when there is no answer in time; the command may have happened or still happen */
const within = async <T>(command: () => Promise<T>, timeoutMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ReadStoreUnavailable(`the document database did not answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([command(), late]);
  } catch (error) {
    throw translate(error);
  } finally {
    clearTimeout(timer);
  }
};
