import { parentPort } from 'node:worker_threads';
import { readSpecification } from './read.ts';
import type { ReadBounds } from './types.ts';

/** Entry of the thread that documents are read in: one at a time, answered in order. */
parentPort?.on('message', ({ bytes, bounds }: { readonly bytes: Uint8Array; readonly bounds: ReadBounds }) => {
  parentPort?.postMessage(readSpecification(bytes, bounds));
});
