import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** Openings of buses in this process that are not closed yet. */
const alive = new Set<string>();

/** A name for one opening of a bus: host, process id and something random. */
export const newInstance = (): string => {
  const id = `${hostname()}|${process.pid}|${randomUUID()}`;
  alive.add(id);
  return id;
};

export const endInstance = (id: string): void => {
  alive.delete(id);
};

/**
 * Whether the process behind an instance is known to be gone, so that its partitions can be taken at once instead of
 * when the lease runs out. Only ever true on the same host; elsewhere nothing is known and the lease decides.
 */
export const isGone = (id: string): boolean => {
  const [host, pid] = id.split('|');
  if (host !== hostname()) return false;
  // Our own number but not ours: an earlier life of this process, as in a container where it is always the same.
  if (Number(pid) === process.pid) return !alive.has(id);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ESRCH';
  }
};
