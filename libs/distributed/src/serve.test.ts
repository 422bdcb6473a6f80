import { Agent, request as send } from 'node:http';
import { noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import { serve } from './serve.ts';

/** One request on the connections of an agent. */
const ask = (agent: Agent, port: number, path: string): Promise<{ readonly text: string; readonly reused: boolean }> =>
  new Promise((resolve, reject) => {
    const request = send({ agent, port, path, host: '127.0.0.1' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ text, reused: request.reusedSocket }));
    });
    request.once('error', reject);
    request.end();
  });

test('what has begun is finished; idle connections and new ones hear that it ends, until the process is gone', async () => {
  let port = 0;
  let begun = false;
  let finish: () => void = () => undefined;
  const logger = { ...noopTelemetry().logger, info: (_: string, fields?: object) => (port = Object(fields).port) };
  const part = serve({
    host: '127.0.0.1',
    port: 0,
    logger,
    listener: (ending) => (request, response) => {
      if (ending()) response.setHeader('connection', 'close').end('ending');
      else if (request.url === '/slow') {
        begun = true;
        finish = () => response.end('done');
      } else response.end('served');
    },
  });
  await part.start?.();
  const agent = new Agent({ keepAlive: true });
  const other = new Agent({ keepAlive: true });
  try {
    expect(await ask(agent, port, '/')).toEqual({ text: 'served', reused: false });
    const slow = ask(other, port, '/slow');
    while (!begun) await new Promise((resolve) => setImmediate(resolve));
    let stopped = false;
    const stopping = part.stop?.().then(() => (stopped = true));
    // The connection was there before and is not closed under the request.
    expect(await ask(agent, port, '/')).toEqual({ text: 'ending', reused: true });
    expect(stopped).toBe(false);
    finish();
    expect((await slow).text).toBe('done');
    await stopping;
    expect(await ask(agent, port, '/')).toEqual({ text: 'ending', reused: false });
    expect(await ask(other, port, '/')).toEqual({ text: 'ending', reused: true });
  } finally {
    agent.destroy();
    other.destroy();
  }
});
