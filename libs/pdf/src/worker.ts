import { parentPort } from 'node:worker_threads';
import { renderPdf } from './render.ts';
import type { PdfRequest } from './types.ts';

/** Entry of the thread that a file is written in: one file, then it ends. */
parentPort?.once('message', (request: PdfRequest) => {
  renderPdf(request).then(
    (bytes) => parentPort?.postMessage({ ok: true, bytes }),
    (error: unknown) => parentPort?.postMessage({ ok: false, message: String(error) }),
  );
});
