import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { readForm } from './form.ts';

/** What becomes of a form of which `sent` arrives, and no more when it is shorter than `length`. */
const outcomeOf = async (sent: string, length: number): Promise<unknown> => {
  const outcome = Promise.withResolvers<unknown>();
  const server = createServer((incoming, response) => {
    readForm(incoming, response, 100)
      .then((form) => form.field('name', 10))
      .then(outcome.resolve, outcome.resolve)
      .finally(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': length };
  const client = request({ host: '127.0.0.1', port, method: 'POST', headers });
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
  expect(await outcomeOf('name=Ada', 8)).toBe('Ada');
});

test('a form that does not come is given up in time', async () => {
  expect(await outcomeOf('name=', 8)).toMatchObject({ kind: 'unavailable', code: 'deadline.exceeded' });
});
