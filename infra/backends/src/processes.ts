import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { waitUntil } from './wait.ts';

/** A process that may outlive the one that started it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the kernel says it started (clock ticks since boot), so that a reused pid is not mistaken for it. '' where unknown. */
  readonly startedAt: string;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Standard output and standard error are appended to this file. */
  readonly logFile: string;
}

/** Fields of `/proc/PID/stat` after the name in parentheses (which may hold anything), or undefined where there is none. */
const processStat = (pid: number): readonly string[] | undefined => {
  const path = `/proc/${pid}/stat`;
  if (!existsSync('/proc/self/stat')) return undefined;
  try {
    const text = readFileSync(path, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};

const startOf = (pid: number): string => processStat(pid)?.[19] ?? '';

/** Of a process that runs now. */
export const identityOf = (pid: number): ProcessIdentity => ({ pid, startedAt: startOf(pid) });

const signalReaches = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a process in a session of its own, so that it lives on when this one ends. @throws when it cannot be started */
export const launchDetached = async (launch: Launch): Promise<ProcessIdentity> => {
  mkdirSync(dirname(launch.logFile), { recursive: true });
  const log = openSync(launch.logFile, 'a');
  try {
    const child = spawn(launch.command, [...launch.args], {
      cwd: launch.cwd,
      detached: true,
      env: { ...process.env, ...launch.env },
      stdio: ['ignore', log, log],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    if (child.pid === undefined) throw new Error(`${launch.command} has no process id`);
    return identityOf(child.pid);
  } finally {
    closeSync(log);
  }
};

/** Whether that very process is there and has not ended (a zombie has). */
export const isRunning = ({ pid, startedAt }: ProcessIdentity): boolean => {
  const stat = processStat(pid);
  if (stat === undefined) return signalReaches(pid);
  return stat[0] !== undefined && stat[0] !== 'Z' && stat[0] !== 'X' && stat[19] === startedAt;
};

/** Sends a signal to that very process; nothing happens when it is gone. */
export const sendSignal = (identity: ProcessIdentity, signal: NodeJS.Signals): void => {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};

/** Waits until it has ended. @param deadlineMs fails after so long */
export const untilEnded = (identity: ProcessIdentity, deadlineMs: number): Promise<void> =>
  waitUntil(() => Promise.resolve(!isRunning(identity)), { what: `process ${identity.pid} ends`, deadlineMs });

/** Takes its processor time away until SIGCONT; resolves when it stands still. */
export const freeze = async (identity: ProcessIdentity): Promise<void> => {
  sendSignal(identity, 'SIGSTOP');
  await waitUntil(
    () => {
      const stat = processStat(identity.pid);
      return Promise.resolve(stat === undefined || stat[0] === 'T' || stat[0] === 't');
    },
    { what: `process ${identity.pid} stands still`, deadlineMs: 5_000 },
  );
};

/** Asks it to end (SIGTERM), and ends it (SIGKILL) when it has not after `graceMs`. Resolves when it is gone. */
export const endProcess = async (identity: ProcessIdentity, graceMs: number): Promise<void> => {
  sendSignal(identity, 'SIGTERM');
  sendSignal(identity, 'SIGCONT');
  try {
    await untilEnded(identity, graceMs);
  } catch {
    sendSignal(identity, 'SIGKILL');
    await untilEnded(identity, 10_000);
  }
};
