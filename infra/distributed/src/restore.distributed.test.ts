import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventStoreDb } from '@bindery/event-store/eventstoredb';
import { type Cluster, openServers, type Servers, startCluster } from '@bindery/testing/cluster';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Api, eventually, must } from './api.ts';
import { type Backup, fillBucket, restoreDatabase, takeBackup } from './backup.ts';

/** What an operator keeps beside the backup, and gives to the restored instance again. */
const kept = {
  PUBLIC_URL: 'http://docs.example.test',
  MASTER_KEY: '5e'.repeat(32),
  MONGODB_DATABASE_PREFIX: `drill${process.pid}`,
  REDIS_PREFIX: `drill${process.pid}:`,
};
const keysDatabase = `${kept.MONGODB_DATABASE_PREFIX}_keys`;
const adaLovelace = { email: 'ada@example.org', displayName: 'Ada Lovelace' };
const fileText = (name: string): string => `Bytes of ${name}.\n`;

interface Place {
  readonly api: Api;
  readonly url: string;
}
interface Status {
  readonly services: readonly {
    readonly service: string;
    readonly events: number;
    readonly projections: readonly { readonly head: number; readonly lag: number }[];
  }[];
}
interface FileItem {
  readonly id: string;
  readonly name: string;
  readonly downloadURL: string;
}
interface Listed<T> {
  readonly items: readonly T[];
}

const placeOf = (cluster: Cluster, gateway = 0): Place => ({ api: cluster, url: cluster.gateways[gateway]?.url ?? '' });
const send = <T>({ api, url }: Place, method: string, path: string, body?: unknown): Promise<T> =>
  must<T>(api, url, method, path, body);

/** A space with merged pages and a file, and an open change request. */
const writeSpace = async (place: Place, organization: string, title: string): Promise<string> => {
  const space = (await send<{ id: string }>(place, 'POST', `/v1/orgs/${organization}/spaces`, { title, empty: true }))
    .id;
  const requests = `/v1/spaces/${space}/change-requests`;
  const written = (await send<{ id: string }>(place, 'POST', requests, { subject: 'Pages' })).id;
  const base64 = Buffer.from(fileText(title)).toString('base64');
  await send(place, 'POST', `${requests}/${written}/content`, {
    changes: [
      { operation: 'insert_page', title: 'Start', document: { markdown: `# Start\n\nThe dispatcher of ${title}.` } },
      { operation: 'insert_page', title: 'Guide', document: { markdown: '## Deep\n\nSee [start](start.md).' } },
      { operation: 'insert_files', files: [{ name: `${title}.txt`, contentType: 'text/plain', base64 }] },
    ],
  });
  await send(place, 'POST', `${requests}/${written}/merge`);
  const open = (await send<{ id: string }>(place, 'POST', requests, { subject: 'A draft' })).id;
  await send(place, 'POST', `${requests}/${open}/content`, {
    changes: [{ operation: 'insert_page', title: 'Draft', document: { markdown: 'Not yet.' } }],
  });
  return space;
};

const filesOf = async (place: Place, space: string): Promise<readonly FileItem[]> =>
  (await send<Listed<FileItem>>(place, 'GET', `/v1/spaces/${space}/content/files`)).items;

/** Everything that can be read of what nobody changes any more. */
const pathsOf = async (place: Place, organization: string, space: string, person: string): Promise<string[]> => {
  const of = `/v1/spaces/${space}`;
  const paths = [
    ...['/v1/user', `/v1/users/${person}`, `/v1/orgs/${organization}`, `/v1/orgs/${organization}/members`],
    ...[of, `${of}/content`, `${of}/content/pages`, `${of}/content/path/guide?format=markdown`, `${of}/content/files`],
    ...[`${of}/change-requests`, `${of}/search?query=dispatcher`],
  ];
  const { items } = await send<Listed<{ id: string }>>(place, 'GET', `${of}/change-requests`);
  for (const { id } of items)
    paths.push(
      `${of}/change-requests/${id}`,
      `${of}/change-requests/${id}/content`,
      `${of}/change-requests/${id}/changes`,
    );
  return paths;
};

/** The bytes of a file, by its address on the instance's public one. */
const download = async ({ url }: Place, { downloadURL }: FileItem): Promise<string> => {
  const { pathname, search } = new URL(downloadURL);
  const response = await fetch(`${url}${pathname}${search}`, { signal: AbortSignal.timeout(10_000) });
  return `${response.status} ${await response.text()}`;
};

/**
 * Answers to GETs as they come, by path. Without when a member was last seen, which is no event and begins anew, and the
 * number of its spaces, which grows while the backup is made.
 */
const answersOf = async (place: Place, paths: readonly string[]): Promise<Readonly<Record<string, string>>> => {
  const answers: Record<string, string> = {};
  for (const path of paths) {
    const response = await fetch(`${place.url}${path}`, {
      headers: { authorization: `Bearer ${place.api.token}` },
      signal: AbortSignal.timeout(20_000),
    });
    const text = (await response.text()).replace(/"lastSeenAt":"[^"]*",?|"spaces":\d+,/g, '');
    answers[path] = `${response.status} ${text}`;
  }
  return answers;
};

/** Events up to a position of the log, by service. */
const countEvents = async (url: string, upTo: number): Promise<Readonly<Record<string, number>>> => {
  const store = openEventStoreDb({ connectionString: url });
  const counts: Record<string, number> = {};
  try {
    for await (const { stream, position } of store.readAll({ prefixes: ['identity.', 'content.'], limit: 100_000 })) {
      if (position > upTo) break;
      const service = stream.slice(0, stream.indexOf('.'));
      counts[service] = (counts[service] ?? 0) + 1;
    }
  } finally {
    await store.close();
  }
  return counts;
};

const statusOf = (place: Place): Promise<Status> => send<Status>(place, 'GET', '/admin/v1/status');
const caughtUp = (place: Place): Promise<Status> =>
  eventually('no projection is behind', async () => {
    const status = await statusOf(place);
    const behind = status.services.some(({ projections }) => projections.some(({ lag }) => lag > 0));
    return behind ? undefined : status;
  });

/** Somebody who goes on to write while the backup is made: each round a new person, and a space with a file. */
const writeOn = (place: Place, organization: string) => {
  const people: { readonly id: string; readonly name: string }[] = [];
  const spaces: string[] = [];
  let stopped = false;
  const run = async (): Promise<void> => {
    for (let round = 0; !stopped; round += 1) {
      const name = `Person ${round}`;
      const body = { email: `person-${round}@example.org`, displayName: name };
      people.push({ id: (await send<{ id: string }>(place, 'POST', '/admin/v1/users', body)).id, name });
      spaces.push(await writeSpace(place, organization, `Round ${round}`));
    }
  };
  const running = run();
  return {
    ...{ people, spaces },
    stop: async (): Promise<void> => {
      stopped = true;
      await running;
    },
  };
};

describe('backup and restore of the distributed profile', () => {
  let folder: string;
  const open: { stop(): Promise<unknown> }[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-restore-'));
  });
  afterAll(async () => {
    for (const one of open.reverse()) await one.stop();
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  const start = async (
    servers: Servers,
  ): Promise<{ readonly cluster: Cluster; readonly stop: () => Promise<void> }> => {
    const cluster = await startCluster({ servers: servers.environment, env: { ...kept, LEASE_MS: '2000' }, token });
    let running = true;
    const stop = async (): Promise<void> => {
      if (running) await cluster.stop();
      running = false;
    };
    open.push({ stop });
    return { cluster, stop };
  };
  const token = `bnd_pat_${'r'.repeat(40)}`;

  test('what was written before is there afterwards, byte by byte; what is written meanwhile is whole or not there', async () => {
    const servers = await openServers();
    open.push({ stop: () => servers.release() });
    const first = await start(servers);
    const place = placeOf(first.cluster);
    const organization = (await send<Listed<{ id: string }>>(place, 'GET', '/v1/orgs')).items[0]?.id ?? '';
    const ada = (await send<{ id: string }>(place, 'POST', '/admin/v1/users', adaLovelace)).id;
    await send(place, 'PUT', `/admin/v1/orgs/${organization}/members/${ada}`, { role: 'create' });
    const space = await writeSpace(place, organization, 'Handbook');
    const paths = await pathsOf(place, organization, space, ada);
    const [file] = await filesOf(place, space);
    if (file === undefined) throw new Error('the space has a file');

    // What the operator notes.
    const noted = await caughtUp(place);
    const position = Math.max(...noted.services.flatMap(({ projections }) => projections.map(({ head }) => head)));
    const before = await answersOf(place, paths);
    const counted = await countEvents(servers.eventStore.url, position);
    expect(Object.values(before).filter((answer) => !answer.startsWith('200 '))).toEqual([]);
    expect(before[`/v1/users/${ada}`]).toContain('Ada Lovelace');
    expect(await download(place, file)).toBe(`200 ${fileText('Handbook')}`);

    const writing = writeOn(placeOf(first.cluster, 1), organization);
    let backup: Backup;
    try {
      await eventually('writes go on', async () => (writing.spaces.length > 1 ? true : undefined));
      backup = await takeBackup(servers.environment, {
        ...{ log: servers.eventStore.dataFolder, into: join(folder, 'events'), keys: keysDatabase },
      });
      const during = writing.spaces.length;
      await eventually('writes go on afterwards', async () => (writing.spaces.length > during ? true : undefined));
    } finally {
      await writing.stop();
    }
    await first.stop();
    await servers.release();

    // Everything is lost; servers with nothing in them but what was copied.
    const anew = await openServers(join(folder, 'anew'));
    for (const one of [anew.kafka, anew.mongodb, anew.redis, anew.s3, anew.eventStore]) open.push(one);
    await anew.eventStore.stop();
    await rm(anew.eventStore.dataFolder, { recursive: true });
    await cp(backup.events, anew.eventStore.dataFolder, { recursive: true });
    await anew.eventStore.start();
    await restoreDatabase(anew.environment, keysDatabase, backup.keys);
    await fillBucket(anew.environment, backup.blobs);
    const restored = placeOf((await start(anew)).cluster);

    expect(await countEvents(anew.eventStore.url, position)).toEqual(counted);
    await caughtUp(restored);
    const known = (await send<Listed<{ id: string }>>(restored, 'GET', `/v1/orgs/${organization}/spaces?limit=100`))
      .items;
    const later = writing.spaces.filter((id) => known.some((one) => one.id === id));
    expect(later.length).toBeGreaterThan(1);
    expect(await answersOf(restored, paths)).toEqual(before);
    expect(await download(restored, file)).toBe(`200 ${fileText('Handbook')}`);

    // Nobody without a name, no file without its bytes.
    const { items: people } = await send<Listed<{ id: string; displayName: string }>>(
      ...([restored, 'GET', '/admin/v1/users?limit=100'] as const),
    );
    for (const { id, name } of writing.people) {
      const found = people.find((one) => one.id === id);
      expect([undefined, name]).toContain(found?.displayName);
    }
    for (const [round, id] of writing.spaces.entries()) {
      if (!later.includes(id)) continue;
      for (const one of await filesOf(restored, id))
        expect(await download(restored, one)).toBe(`200 ${fileText(`Round ${round}`)}`);
    }

    // And it goes on.
    const fresh = await writeSpace(restored, organization, 'Afterwards');
    expect(await filesOf(restored, fresh)).toHaveLength(1);
  }, 400_000);
});
