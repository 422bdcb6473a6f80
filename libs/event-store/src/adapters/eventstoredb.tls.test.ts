import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DoubleOptions, MOST_EVENT_BYTES } from '@bindery/testing/eventstoredb-double';
import { describe, expect, test } from '@jest/globals';
import { EventStoreUnavailable } from '../port.ts';
import { collect, eventOf, Listener, numbersOf, type Place, withDouble, withFolder } from './eventstoredb/testing.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
/** The certificates are made by openssl, which not every machine has. */
const maybe = hasOpenssl ? test : test.skip;

const PASSWORD = 'p@ss:wörd/?%';
const users = {
  'bindery product': { password: PASSWORD },
  limited: { password: 'limited', readsAll: false },
} as const;

interface Secured extends Pick<DoubleOptions, 'tls' | 'users'> {
  readonly caFile: string;
  readonly otherCaFile: string;
}

const openssl = (folder: string, ...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
};

/** Two authorities, and a certificate of the first for the address of the double. */
const secured = (folder: string): Secured => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other-ca'])
    openssl(
      folder,
      'req',
      '-x509',
      ...curve,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  openssl(folder, 'req', ...curve, '-keyout', 'node.key', '-out', 'node.csr', '-subj', '/CN=eventstoredb-node');
  writeFileSync(join(folder, 'san'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san'];
  openssl(folder, 'x509', '-req', '-in', 'node.csr', ...signed, '-out', 'node.crt');
  const file = (name: string): Buffer => readFileSync(join(folder, name));
  const caFile = join(folder, 'ca with space.crt');
  writeFileSync(caFile, file('ca.crt'));
  return {
    tls: { cert: file('node.crt'), key: file('node.key') },
    users,
    caFile,
    otherCaFile: join(folder, 'other-ca.crt'),
  };
};

interface Secure {
  readonly place: Place;
  url(user: string, password: string, options?: string): string;
  readonly otherCaFile: string;
}

const withTls = (work: (secure: Secure) => Promise<void>): Promise<void> =>
  withFolder(async (folder) => {
    const { caFile, otherCaFile, ...settings } = secured(folder);
    await withDouble((place) => {
      const url = (user: string, password: string, options = `&tlsCAFile=${encodeURIComponent(caFile)}`): string => {
        const credentials = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
        return `esdb://${credentials}127.0.0.1:${place.double.port}?tls=true${options}`;
      };
      return work({ place, url, otherCaFile });
    }, settings);
  });

describe('a server with TLS and users', () => {
  maybe('appends, reads and subscriptions, with an authority of our own and a password of odd characters', () =>
    withTls(async ({ place, url }) => {
      const store = place.open({ connectionString: url('bindery product', PASSWORD) });
      const listener = new Listener(store, { prefixes: ['a-'] });
      for (let n = 0; n < 40; n += 1) await store.append('a-1', [eventOf(n)], n === 0 ? 'no-stream' : n - 1);
      await listener.until(({ events }) => events.length === 40);
      await listener.stop();
      expect(numbersOf(await collect(store.readStream('a-1')))).toHaveLength(40);
      expect(numbersOf(await collect(store.readAll({ limit: 3 })))).toEqual([0, 1, 2]);
      expect(await store.head(['a-'])).toBeGreaterThan(0);
      const large = place.open({
        connectionString: url('bindery product', PASSWORD),
        callTimeoutMs: 8000,
        appendTimeoutMs: 9000,
      });
      const refused = large.append('a-2', [eventOf(0, 'x'.repeat(MOST_EVENT_BYTES / 8))], 'no-stream');
      await expect(refused).rejects.toBeInstanceOf(TypeError);
      place.double.disconnect();
      expect(await store.append('a-1', [eventOf(40)], 39)).toMatchObject({ revision: 40 });
    }),
  );

  maybe('the same through discovery', () =>
    withTls(async ({ place, url }) => {
      const connectionString = url('bindery product', PASSWORD).replace('esdb://', 'esdb+discover://');
      expect(await place.open({ connectionString }).append('a-1', [eventOf(0)], 'no-stream')).toMatchObject({
        revision: 0,
      });
    }),
  );

  maybe.each([
    ['a wrong password', 'limited', 'wrong', /401/u],
    ['no user', '', '', /Access Denied/u],
  ])('%s is said at once, and is no time-out', (_what, user, password, reason) =>
    withTls(async ({ place, url }) => {
      const store = place.open({ connectionString: url(user, password) });
      for (const call of [
        () => store.append('a-1', [eventOf(0)], 'no-stream'),
        () => collect(store.readStream('a-1')),
        () => collect(store.readAll()),
        () => store.head(),
        () => collect(store.subscribe({ signal: new AbortController().signal })),
      ]) {
        const refused = call();
        await expect(refused).rejects.toBeInstanceOf(EventStoreUnavailable);
        await expect(refused).rejects.toThrow(reason);
      }
      expect(place.double.counters.appends).toBe(1);
    }),
  );

  maybe('a user who may not read $all can write and read streams, and is told what is missing', () =>
    withTls(async ({ place, url }) => {
      const store = place.open({ connectionString: url('limited', 'limited') });
      await store.append('a-1', [eventOf(0)], 'no-stream');
      expect(await collect(store.readStream('a-1'))).toHaveLength(1);
      await expect(store.head()).rejects.toThrow(/\$all/u);
      await expect(collect(store.subscribe({ signal: new AbortController().signal }))).rejects.toThrow(/\$all/u);
    }),
  );

  maybe('a certificate of another authority is not believed', () =>
    withTls(async ({ place, url, otherCaFile }) => {
      for (const options of ['', `&tlsCAFile=${encodeURIComponent(otherCaFile)}`]) {
        const connectionString = url('bindery product', PASSWORD, options);
        const store = place.open({ connectionString, callTimeoutMs: 4000, appendTimeoutMs: 5000 });
        await expect(store.append('a-1', [eventOf(0)], 'no-stream')).rejects.toThrow(/certificate/u);
      }
      expect(place.double.counters.appends).toBe(0);
    }),
  );
});
