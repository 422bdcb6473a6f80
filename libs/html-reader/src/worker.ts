import { parentPort } from 'node:worker_threads';
import { readHtml } from './read.ts';
import type { HtmlSource } from './types.ts';

/** Entry of the thread that pages are read in: one at a time, answered in order. */
parentPort?.on('message', (source: HtmlSource) => {
  parentPort?.postMessage(readHtml(source));
});
