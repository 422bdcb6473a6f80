import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { readForm } from './form.ts';

/** What becomes of a form of which `sent` arrives, and no more when it is shorter than `length`. */
const outcomeOf = async (sent: string, length: number): Promise<unknown> => {
  const outcome = Promise.withResolvers<unknown>();
  const server = createServer((incoming, response) => {
    readForm(incoming, 100)
      .then(outcome.resolve, outcome.resolve)
      .finally(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': length };
  const client = request({ host: '127.0.0.1', port: Object(server.address()).port, method: 'POST', headers });
  client.on('error', () => undefined);
  client.write(sent);
  try {
    return await outcome.promise;
  } finally {
    client.destroy();
    server.close();
  }
};

test('a form that comes is read', async () => {
  const sent = 'SAMLResponse=abc&RelayState=def';
  expect(await outcomeOf(sent, sent.length)).toEqual({ samlResponse: 'abc', relayState: 'def' });
});

test('a form that does not come is given up in time', async () => {
  expect(await outcomeOf('SAMLResponse=', 80)).toMatchObject({ kind: 'unavailable', code: 'deadline.exceeded' });
});
