import { fileURLToPath } from 'node:url';
import { ended, freePort, startProcess } from '@bindery/testing/product';

const baseline = fileURLToPath(new URL('./baseline.ts', import.meta.url));

/** Starts a bare Express 5 process that answers every GET and POST with these bytes. */
export const startBaseline = async (body: string, status: number): Promise<{ url: string; stop(): Promise<void> }> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { child } = await startProcess(
    baseline,
    { PORT: String(port), BODY: Buffer.from(body).toString('base64'), STATUS: String(status) },
    url,
    '/ready',
  );
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended(child);
    },
  };
};
