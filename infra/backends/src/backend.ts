import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKEND_NAMES, type BackendName, type Engine, type EngineContext, type MongoServer } from './engine.ts';
import { engineFor } from './engines/index.ts';
import { withLock } from './lock.ts';
import { freePorts } from './ports.ts';
import {
  endProcess,
  freeze,
  isRunning,
  launchDetached,
  type ProcessIdentity,
  sendSignal,
  untilEnded,
} from './processes.ts';
import type { Say } from './tools.ts';
import { waitUntil } from './wait.ts';

/** A running one is asked once more before it is thought to be broken, for so long, in ms. */
const RECHECK_MS = 5_000;

export interface BackendOptions {
  /** The state folder; each back end has a folder of its own in it. Two folders are two independent sets of servers. */
  readonly folder: string;
  /** Which server answers as MongoDB. Default: the one that the folder was made with, else `java`. */
  readonly mongo?: MongoServer;
  /** Told what takes long (downloads, builds). */
  readonly say?: Say;
}

/** What a back end's folder remembers. */
interface Remembered {
  readonly ports: readonly number[];
  readonly mongo?: MongoServer;
  readonly process?: ProcessIdentity;
}

/** A server process that this machine runs for the product. Its port and data stay the same over every restart. */
export class Backend {
  readonly name: BackendName;
  readonly #engine: Engine;
  readonly #context: EngineContext;
  readonly #mongo: MongoServer | undefined;
  #process: ProcessIdentity | undefined;

  /** Use {@link openBackend} or {@link startBackend}. */
  constructor(engine: Engine, context: EngineContext, remembered: Remembered) {
    this.name = engine.name;
    this.#engine = engine;
    this.#context = context;
    this.#mongo = remembered.mongo;
    this.#process = remembered.process;
  }

  get title(): string {
    return this.#engine.title;
  }

  /** The port that clients connect to. */
  get port(): number {
    return this.#context.ports[0] ?? 0;
  }

  /** The address in the form that the product's configuration takes. */
  get url(): string {
    return Object.values(this.environment)[0] ?? '';
  }

  /** All that clients have to know, by the names of the product's environment variables. */
  get environment(): Readonly<Record<string, string>> {
    return this.#engine.environment(this.#context);
  }

  /** Of its process when this program last started or found it. @throws Error when it did not run */
  get pid(): number {
    return this.#running().pid;
  }

  get logFile(): string {
    return join(this.#context.folder, 'output.log');
  }

  /** Where it keeps what must outlive its process. */
  get dataFolder(): string {
    return this.#context.dataFolder;
  }

  get running(): boolean {
    return this.#process !== undefined && isRunning(this.#process);
  }

  /** Whether it answers now. */
  async answers(): Promise<boolean> {
    if (!this.running) return false;
    try {
      return await this.#engine.probe(this.#context);
    } catch {
      return false;
    }
  }

  /**
   * Starts it unless it already runs and answers, and waits until it is ready.
   * @throws MissingTool when this machine lacks what it needs
   * @throws Error when it is not ready within its deadline, with the end of its output
   */
  start(): Promise<void> {
    return withLock(join(this.#context.folder, 'lock'), async () => {
      this.#process = (await recall(this.#context.folder))?.process;
      await this.#start();
    });
  }

  async #start(): Promise<void> {
    if (this.#process !== undefined && this.running) {
      sendSignal(this.#process, 'SIGCONT');
      try {
        await this.#untilReady(RECHECK_MS);
        return;
      } catch {
        await this.stop();
      }
    }
    await mkdir(this.#context.dataFolder, { recursive: true });
    const command = await this.#engine.prepare(this.#context);
    this.#process = await launchDetached({ ...command, cwd: this.#context.folder, logFile: this.logFile });
    await this.#remember();
    await this.#untilReady(this.#engine.readyDeadlineMs);
  }

  /** Ends it without any chance to tidy up, and waits until it is gone. Start it again with {@link restart}. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const process = await this.#current();
    sendSignal(process, signal);
    sendSignal(process, 'SIGCONT');
    await untilEnded(process, this.#engine.stopGraceMs);
  }

  /** Takes its processor time away: connections stay open and nothing answers. Resolves when it stands still. */
  async pause(): Promise<void> {
    await freeze(await this.#current());
  }

  async resume(): Promise<void> {
    sendSignal(await this.#current(), 'SIGCONT');
  }

  /** Ends it if it runs, and starts it on the same port with the same data; resolves when it is ready. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Ends it in an orderly way. The data stay. Does nothing when it does not run. */
  async stop(): Promise<void> {
    const process = (await recall(this.#context.folder))?.process;
    if (process === undefined) return;
    await endProcess(process, this.#engine.stopGraceMs);
    this.#process = undefined;
    await this.#remember();
  }

  /** As its folder says: another program may have restarted it. */
  async #current(): Promise<ProcessIdentity> {
    this.#process = (await recall(this.#context.folder))?.process;
    return this.#running();
  }

  #running(): ProcessIdentity {
    if (this.#process === undefined) throw new Error(`${this.name} does not run`);
    return this.#process;
  }

  async #untilReady(deadlineMs: number): Promise<void> {
    try {
      await waitUntil(() => this.#engine.probe(this.#context), {
        what: `${this.name} is ready`,
        deadlineMs,
        hopeless: () => (this.running ? undefined : 'its process has ended'),
      });
      await this.#engine.afterReady?.(this.#context);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${message}\n${await this.#endOfLog()}`, { cause: error });
    }
  }

  async #endOfLog(): Promise<string> {
    if (!existsSync(this.logFile)) return '';
    return (await readFile(this.logFile, 'utf8')).slice(-2_000);
  }

  async #remember(): Promise<void> {
    const content: Remembered = {
      ports: this.#context.ports,
      ...(this.#mongo === undefined ? {} : { mongo: this.#mongo }),
      ...(this.#process === undefined ? {} : { process: this.#process }),
    };
    await remember(this.#context.folder, content);
  }
}

const rememberedFile = (folder: string): string => join(folder, 'backend.json');

const remember = async (folder: string, content: Remembered): Promise<void> => {
  const temporary = `${rememberedFile(folder)}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`);
  await rename(temporary, rememberedFile(folder));
};

const recall = async (folder: string): Promise<Remembered | undefined> =>
  existsSync(rememberedFile(folder)) ? JSON.parse(await readFile(rememberedFile(folder), 'utf8')) : undefined;

/** A back end of a state folder as it is there, running or not; its ports are chosen the first time. */
export const openBackend = async (name: BackendName, options: BackendOptions): Promise<Backend> => {
  const folder = join(options.folder, name);
  await mkdir(folder, { recursive: true });
  const known = await recall(folder);
  const mongo = name === 'mongodb' ? (options.mongo ?? known?.mongo ?? 'java') : undefined;
  const engine = engineFor(name, mongo);
  // Another server of the same protocol: the running one ends. Each keeps its own data.
  if (known?.process !== undefined && known.mongo !== mongo) await endProcess(known.process, engine.stopGraceMs);
  const same = known !== undefined && known.mongo === mongo;
  const remembered: Remembered = {
    ports: known?.ports ?? (await freePorts(engine.portCount)),
    ...(mongo === undefined ? {} : { mongo }),
    ...(same && known.process !== undefined ? { process: known.process } : {}),
  };
  await remember(folder, remembered);
  const dataFolder = join(folder, mongo === undefined ? 'data' : `data-${mongo}`);
  return new Backend(
    engine,
    { folder, dataFolder, ports: remembered.ports, say: options.say ?? (() => {}) },
    remembered,
  );
};

/**
 * A server in a folder of its own, whose engine and ports the caller knows: one of several that belong together.
 * It is there as its folder says, running or not.
 */
export const backendIn = async (
  engine: Engine,
  { folder, ports, say }: { readonly folder: string; readonly ports: readonly number[]; readonly say: Say },
): Promise<Backend> => {
  await mkdir(folder, { recursive: true });
  const known = await recall(folder);
  const remembered: Remembered = { ports, ...(known?.process === undefined ? {} : { process: known.process }) };
  await remember(folder, remembered);
  return new Backend(engine, { folder, dataFolder: join(folder, 'data'), ports, say }, remembered);
};

/** Starts a back end (or finds it running) and waits until it answers in its own protocol. @throws as {@link Backend.start} */
export const startBackend = async (name: BackendName, options: BackendOptions): Promise<Backend> => {
  const backend = await openBackend(name, options);
  await backend.start();
  return backend;
};

/** The back ends that a state folder knows, running or not. */
export const knownBackends = async (options: BackendOptions): Promise<readonly Backend[]> => {
  const names = BACKEND_NAMES.filter((name) => existsSync(rememberedFile(join(options.folder, name))));
  return await Promise.all(names.map((name) => openBackend(name, options)));
};

/**
 * Removes the state folder with all data.
 * @param others servers of the folder that are not known by their name
 * @throws Error when one still runs
 */
export const removeState = async (folder: string, others: readonly Backend[] = []): Promise<void> => {
  const running = [...(await knownBackends({ folder })), ...others].filter((backend) => backend.running);
  if (running.length > 0) throw new Error(`still running: ${running.map(({ name }) => name).join(', ')}`);
  await rm(folder, { recursive: true, force: true });
};
