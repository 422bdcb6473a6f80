import { cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Embedded } from './compose.ts';
import { dataPaths } from './data-paths.ts';
import { createEmbedded } from './embedded.ts';
import { newFolder, request, settingsFor, testToken } from './testing.ts';

const env = { BINDERY_BOOTSTRAP_TOKEN: testToken };
const fileText = (title: string): string => `Bytes of ${title}.\n`;

/** What `sqlite3 FILE ".backup COPY"` does. */
const copyDatabase = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true });
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(database, to);
  } finally {
    database.close();
  }
};

describe('backup and restore of the embedded profile', () => {
  let folder: string;
  let original: string;
  let instance: Embedded | undefined;
  let paths: string[];
  let organization: string;
  let before: Readonly<Record<string, string>>;

  const start = async (dataDir: string): Promise<void> => {
    instance = await createEmbedded(settingsFor(dataDir, env));
  };
  const stop = async (): Promise<void> => {
    await instance?.stop();
    instance = undefined;
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await request(instance?.address ?? '', testToken, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const download = async (space: string): Promise<string> => {
    const { items } = await call('GET', `/v1/spaces/${space}/content/files`);
    const { pathname, search } = new URL(String(Object(items)[0]?.downloadURL));
    return (await fetch(`${instance?.address.replace('localhost', '127.0.0.1')}${pathname}${search}`)).text();
  };
  /** Without the address of the instance, which listens elsewhere each time. When a member was last seen is no event: it begins anew. The number of its spaces grows with what is written meanwhile. */
  const answers = async (): Promise<Readonly<Record<string, string>>> => {
    const found: Record<string, string> = {};
    for (const path of paths)
      found[path] = JSON.stringify(await call('GET', path))
        .replaceAll(instance?.address ?? '', '')
        .replace(/"lastSeenAt":"[^"]*",?|"spaces":\d+,/g, '');
    return found;
  };
  const counts = async (): Promise<Readonly<Record<string, number>>> => {
    const { services } = await call('GET', '/admin/v1/status');
    return Object.fromEntries(
      (services as { service: string; events: number }[]).map((one) => [one.service, one.events]),
    );
  };
  const writeSpace = async (title: string): Promise<string> => {
    const space = String((await call('POST', `/v1/orgs/${organization}/spaces`, { title, empty: true })).id);
    const change = (await call('POST', `/v1/spaces/${space}/change-requests`, { subject: 'Pages' })).id;
    await call('POST', `/v1/spaces/${space}/change-requests/${change}/content`, {
      changes: [
        { operation: 'insert_page', title: 'Start', document: { markdown: `The dispatcher of ${title}.` } },
        {
          operation: 'insert_files',
          files: [
            { name: 'a.txt', contentType: 'text/plain', base64: Buffer.from(fileText(title)).toString('base64') },
          ],
        },
      ],
    });
    await call('POST', `/v1/spaces/${space}/change-requests/${change}/merge`);
    return space;
  };
  let space: string;

  beforeAll(async () => {
    folder = await newFolder();
    original = join(folder, 'original');
    await start(original);
    organization = String(Object((await call('GET', '/v1/orgs')).items)[0]?.id);
    const ada = (await call('POST', '/admin/v1/users', { email: 'ada@example.org', displayName: 'Ada Lovelace' })).id;
    await call('PUT', `/admin/v1/orgs/${organization}/members/${ada}`, { role: 'create' });
    space = await writeSpace('Handbook');
    const of = `/v1/spaces/${space}`;
    paths = ['/v1/user', `/v1/users/${ada}`, `/v1/orgs/${organization}`, `/v1/orgs/${organization}/members`];
    paths.push(of, `${of}/content`, `${of}/content/files`, `${of}/content/path/start?format=markdown`);
    paths.push(`${of}/change-requests`, `${of}/search?query=dispatcher`);
    before = await answers();
  });
  afterAll(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('a copy made while it is written to, events first, has all from before and nothing by halves', async () => {
    const counted = await counts();
    const copy = join(folder, 'hot');
    const [from, to] = [dataPaths(original), dataPaths(copy)];
    const written: string[] = [];
    let stopped = false;
    const writing = (async () => {
      for (let round = 0; !stopped; round += 1) {
        await call('POST', '/admin/v1/users', { email: `person-${round}@example.org`, displayName: `Person ${round}` });
        written.push(await writeSpace(`Round ${round}`));
      }
    })();
    await copyDatabase(from.events('content'), to.events('content'));
    await copyDatabase(from.events('identity'), to.events('identity'));
    await copyDatabase(from.keys, to.keys);
    await cp(from.blobs, to.blobs, {
      recursive: true,
      filter: (path) => !relative(from.blobs, path).startsWith('incoming'),
    });
    await cp(join(original, 'master.key'), join(copy, 'master.key'));
    stopped = true;
    await writing;
    await stop();

    await start(copy);
    for (const [service, events] of Object.entries(await counts()))
      expect(events).toBeGreaterThanOrEqual(counted[service] ?? Number.POSITIVE_INFINITY);
    expect(await answers()).toEqual(before);
    expect(await download(space)).toBe(fileText('Handbook'));
    const users = (await call('GET', '/admin/v1/users?limit=100')).items as { displayName: string }[];
    for (const { displayName } of users) expect(displayName).toMatch(/^(Administrator|Ada Lovelace|Person \d+)$/);
    const { items } = await call('GET', `/v1/orgs/${organization}/spaces?limit=100`);
    for (const { id, title } of items as { id: string; title: string }[]) {
      const files = (await call('GET', `/v1/spaces/${id}/content/files`)).items;
      if (written.includes(id) && Object(files).length > 0) expect(await download(id)).toBe(fileText(title));
    }
    await writeSpace('Afterwards');
    await stop();
  });

  test('a copy of the whole directory of a stopped process is the instance', async () => {
    await start(original);
    const [counted, seen] = [await counts(), await answers()];
    await stop();
    const copy = join(folder, 'cold');
    await cp(original, copy, { recursive: true });
    await start(copy);
    expect(await counts()).toEqual(counted);
    expect(await answers()).toEqual(seen);
  });
});
