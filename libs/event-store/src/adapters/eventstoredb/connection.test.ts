import { freePort } from '@bindery/testing/eventstoredb-double';
import { EventStoreDBClient } from '@eventstore/db-client';
import { Metadata } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { partsOf } from './connection.ts';

/** What a call of an old connection ends with. */
const unavailable = Object.assign(new Error('gone'), { code: 14, details: 'gone', metadata: new Metadata() });

test('a call that fails while its cluster is not found leaves no rejection that nobody handles, which would end the process', async () => {
  const hosts = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`].join(',');
  const parts = partsOf(EventStoreDBClient.connectionString(`esdb://${hosts}?tls=false&maxDiscoverAttempts=1`));
  const looking = parts.getChannel();
  // The library makes this promise and leaves it alone.
  const left = parts.handleError({ getChannel: () => undefined }, unavailable);
  await expect(looking).rejects.toThrow('Failed to discover');
  expect(await left).toBeUndefined();
});

test('a client without the parts that are used is refused by name', () => {
  expect(() => partsOf({})).toThrow('execute');
});
