import type { Say } from './tools.ts';

/** What a new installation of the product runs on. */
export const BACKEND_NAMES = ['eventstore', 'kafka', 'mongodb', 'redis', 's3'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

/** Which server answers as MongoDB. `java`: mongo-java-server in memory with a log (default); `ferretdb`: FerretDB on SQLite. */
export const MONGO_SERVERS = ['java', 'ferretdb'] as const;
export type MongoServer = (typeof MONGO_SERVERS)[number];

export interface EngineContext {
  /** The back end's own folder; its process works in it. */
  readonly folder: string;
  /** Where it keeps what must outlive its process. */
  readonly dataFolder: string;
  /** Its ports, as many as `portCount`, the same for as long as its folder is kept. */
  readonly ports: readonly number[];
  readonly say: Say;
}

export interface EngineCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** One server program: how to get it, start it, ask whether it is ready, and what its clients have to know. */
export interface Engine {
  readonly name: BackendName;
  /** What it is, with its version, for people. */
  readonly title: string;
  /** How many ports it needs; the first is the one that clients connect to. */
  readonly portCount: number;
  /** From the start of the process to its first right answer, in ms. */
  readonly readyDeadlineMs: number;
  /** From SIGTERM until it is killed, in ms. */
  readonly stopGraceMs: number;
  /** Brings what it needs, prepares its data folder, and says how to start it. @throws MissingTool */
  readonly prepare: (context: EngineContext) => Promise<EngineCommand>;
  /** Asks it something in its own protocol. @returns whether it can serve; what it throws means no */
  readonly probe: (context: EngineContext) => Promise<boolean>;
  /** Called once it is ready, after each start; may be repeated. */
  readonly afterReady?: (context: EngineContext) => Promise<void>;
  /** The environment variables from which clients know it. */
  readonly environment: (context: EngineContext) => Readonly<Record<string, string>>;
}
