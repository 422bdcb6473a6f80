import type { ChildProcess } from 'node:child_process';

/** The product, as tests and benchmarks see it. */
export interface Running {
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Milliseconds from spawning the process until it answered that it is ready. */
  readonly readyMs: number;
  /** Resident set size in bytes. */
  memory(): number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** How it is started. */
export interface StartOptions {
  readonly dataDir?: string;
  /** Leaves the data directory after `stop`, for the test to look at and remove. */
  readonly keep?: boolean;
  readonly token?: string;
  readonly env?: Readonly<Record<string, string>>;
}
