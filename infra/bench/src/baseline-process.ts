import { fileURLToPath } from 'node:url';
import { ended, freePort, startProcess } from '@bindery/testing/product';

const proxy = fileURLToPath(new URL('./baseline-proxy.ts', import.meta.url));
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

/** The same behind a second bare Express process that passes every call on. */
export const startBaselineChain = async (
  body: string,
  status: number,
): Promise<{ url: string; stop(): Promise<void> }> => {
  const behind = await startBaseline(body, status);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { child } = await startProcess(proxy, { PORT: String(port), UPSTREAM: behind.url }, url, '/ready');
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended(child);
      await behind.stop();
    },
  };
};
