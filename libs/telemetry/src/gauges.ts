import { statfs } from 'node:fs/promises';
import type { Metrics } from './port.ts';

/** Whether a process can serve, as `/readyz` says it: 1 or 0. */
export const gaugeReady = (metrics: Metrics, process: string, ready: () => boolean): void =>
  metrics.gauge('bindery_ready', 'Whether the process can serve.', ['process'], () => [
    { value: ready() ? 1 : 0, labels: { process } },
  ]);

/** Room on the file system of a folder, in bytes; for processes that keep what must not be lost. */
export const gaugeDisk = (metrics: Metrics, folder: string): void => {
  metrics.gauge('bindery_data_free_bytes', 'Room left where the data directory is.', [], async () => {
    const { bavail, bsize } = await statfs(folder);
    return [{ value: bavail * bsize }];
  });
  metrics.gauge('bindery_data_size_bytes', 'Size of the file system of the data directory.', [], async () => {
    const { blocks, bsize } = await statfs(folder);
    return [{ value: blocks * bsize }];
  });
};
