import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ended, freePort } from '../product/processes.ts';

/** The programs of the distributed profile. */
export type ProcessKind = 'gateway' | 'identity' | 'content';

/** One process of a cluster; its address stays the same over every restart. */
export interface ClusterProcess {
  readonly kind: ProcessKind;
  readonly url: string;
  readonly logFile: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Whether it says that it can serve. */
  ready(): Promise<boolean>;
  /** Sends a signal; resolves when the process is gone, for those that end it. */
  signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /**
   * Starts it again, after it has ended; resolves when it is ready.
   * @param env settings that are others from now on; empty ones count as absent
   */
  start(env?: Readonly<Record<string, string>>): Promise<void>;
}

/** The whole product on servers that are running, each service as processes of its own. */
export interface Cluster {
  readonly gateways: readonly ClusterProcess[];
  readonly identities: readonly ClusterProcess[];
  readonly contents: readonly ClusterProcess[];
  readonly token: string;
  /** What every process was given. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Addresses of the servers, as `npm run backends:up` says them. */
  readonly servers: Readonly<Record<string, string>>;
  readonly gateways?: number;
  readonly identities?: number;
  readonly contents?: number;
  readonly token?: string;
  /** Further settings of every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further settings of the n-th process of a kind: other addresses, for example through a proxy. */
  readonly envOf?: (kind: ProcessKind, index: number) => Readonly<Record<string, string>>;
}

const readyWithinMs = 90_000;
const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** Compiled sources are kept between starts, as images of containers have them. */
const compileCache = join(root, 'node_modules/.cache/bindery-cluster');

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

class Running implements ClusterProcess {
  readonly kind: ProcessKind;
  readonly url: string;
  readonly logFile: string;
  #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  constructor(kind: ProcessKind, url: string, logFile: string, env: Readonly<Record<string, string>>) {
    this.kind = kind;
    this.url = url;
    this.logFile = logFile;
    this.#env = env;
  }

  get child(): ChildProcess {
    if (this.#child === undefined) throw new Error(`${this.kind} was not started`);
    return this.#child;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  ready(): Promise<boolean> {
    return isReady(this.url);
  }

  async signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.child.kill(signal);
    if (signal === 'SIGTERM' || signal === 'SIGKILL') await ended(this.child);
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#env = { ...this.#env, ...env };
    this.launch();
    const until = performance.now() + readyWithinMs;
    for (;;) {
      const { exitCode } = this.child;
      if (exitCode !== null) throw new Error(`${this.kind} ended with ${exitCode}; see ${this.logFile}`);
      if (await this.ready()) return;
      if (performance.now() > until) throw new Error(`${this.kind} is not ready; see ${this.logFile}`);
      await wait(50);
    }
  }

  launch(): void {
    const log = createWriteStream(this.logFile, { flags: 'a' });
    const script = join(root, 'services', this.kind, 'src/main.ts');
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
      env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: compileCache, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.pipe(log, { end: false });
    this.#child.stderr?.pipe(log, { end: false });
    this.#child.once('close', () => log.end());
  }
}

/** Starts all processes and waits until every one is ready. */
export const startCluster = async (options: ClusterOptions): Promise<Cluster> => {
  const { gateways = 2, identities = 1, contents = 2 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'bindery-cluster-'));
  const token = options.token ?? `bnd_pat_${randomBytes(20).toString('hex')}`;
  const ports = async (count: number): Promise<number[]> => {
    const found: number[] = [];
    while (found.length < count) found.push(await freePort());
    return found;
  };
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const [gatewayPorts, identityPorts, contentPorts] = [
    await ports(gateways),
    await ports(identities),
    await ports(contents),
  ];
  const instance = randomBytes(4).toString('hex');
  const env: Record<string, string> = {
    ...options.servers,
    HOST: '127.0.0.1',
    PUBLIC_URL: at(gatewayPorts[0] ?? 0),
    IDENTITY_URL: identityPorts.map(at).join(','),
    CONTENT_URL: contentPorts.map(at).join(','),
    SERVICE_TOKEN: randomBytes(24).toString('hex'),
    MASTER_KEY: randomBytes(32).toString('hex'),
    MONGODB_DATABASE_PREFIX: `t${instance}`,
    REDIS_PREFIX: `t${instance}:`,
    BINDERY_BOOTSTRAP_TOKEN: token,
    KAFKA_PARTITIONS: '4',
    RATE_LIMIT_PER_MINUTE: '0',
    DRAIN_MS: '500',
    LOG_LEVEL: 'warn',
    ...options.env,
  };
  const make = (kind: ProcessKind, kindPorts: readonly number[]): Running[] =>
    kindPorts.map((port, index) => {
      const name = `${kind}-${index}`;
      return new Running(kind, at(port), join(folder, `${name}.log`), {
        ...env,
        PORT: String(port),
        DATA_DIR: join(folder, name),
        ...options.envOf?.(kind, index),
      });
    });
  const cluster = {
    gateways: make('gateway', gatewayPorts),
    identities: make('identity', identityPorts),
    contents: make('content', contentPorts),
  };
  const all = [...cluster.identities, ...cluster.contents, ...cluster.gateways];
  const stop = async (): Promise<void> => {
    await Promise.all(
      all.map(async (one) => {
        one.child.kill('SIGCONT');
        await one.signal('SIGTERM');
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(all.map((one) => one.start()));
  } catch (error) {
    for (const one of all) one.child.kill('SIGKILL');
    throw error;
  }
  return { ...cluster, token, env, stop };
};
