import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newFolder, request, type Spawned, spawnMain, testToken } from './testing.ts';

let folder: string;
const running: Spawned[] = [];
const start = (env: Readonly<Record<string, string>> = {}, before?: string): Spawned => {
  const spawned = spawnMain({ DATA_DIR: join(folder, 'data'), ...env }, before);
  running.push(spawned);
  return spawned;
};

beforeEach(async () => {
  folder = await newFolder();
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

const ready = /"address":"([^"]+)","startedMs"/;

describe('npm start', () => {
  test('shows address and token once, keeps the token in a private file, ends in order on SIGTERM', async () => {
    const first = start();
    const address = (await first.until(ready))[1] ?? '';
    const token = /Token {5}(bnd_pat_[0-9A-Za-z]{40})/.exec(first.output())?.[1] ?? '';
    const file = join(folder, 'data', 'admin-token');
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await request(address, token, 'GET', '/v1/user')).status).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(first.errors()).toBe('');

    const second = start();
    const again = (await second.until(ready))[1] ?? '';
    expect(second.output()).not.toContain(token);
    expect((await request(again, token, 'GET', '/v1/user')).status).toBe(200);
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
  });

  test('refuses a directory that another process uses, but not one that a killed process used', async () => {
    const first = start();
    await first.until(ready);
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.errors()).toMatch(/^bindery: the data directory .* is in use by another process/);
    first.child.kill('SIGKILL');
    await first.ended;
    const third = start();
    await third.until(ready);
  });

  test('says in one line what is wrong with the configuration', async () => {
    const wrong = start({ PORT: 'eighty', LOG_LEVEL: 'loud' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.errors().trim().split('\n')).toHaveLength(1);
    expect(wrong.errors()).toMatch(/PORT: .*; .*LOG_LEVEL: /);
  });

  test('ends with an error after an unhandled rejection, so that a supervisor starts it anew', async () => {
    const failing = start({}, "process.on('SIGUSR2', () => Promise.reject(new Error('out of the blue')))");
    await failing.until(ready);
    failing.child.kill('SIGUSR2');
    expect(await failing.ended).toBe(1);
    expect(failing.output()).toContain('out of the blue');
  });

  test('ends at once on a second signal, though a request is not finished', async () => {
    const busy = start();
    const address = (await busy.until(ready))[1] ?? '';
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    await new Promise((resolve) => socket.write('POST /v1/orgs HTTP/1.1\r\nHost: x\r\n', resolve));
    socket.on('error', () => undefined);
    busy.child.kill('SIGTERM');
    await busy.until(/"reason":"SIGTERM"/);
    // At once it would be the same one, as a terminal and npm send it.
    await new Promise((resolve) => setTimeout(resolve, 600));
    busy.child.kill('SIGTERM');
    expect(await busy.ended).toBe(1);
    socket.destroy();
  });

  test('killed at random instants of the first start, makes one administrator and one organization', async () => {
    const env = { BINDERY_BOOTSTRAP_TOKEN: testToken };
    for (let round = 0; round < (process.env.LONG_TESTS ? 12 : 3); round += 1) {
      const killed = start(env);
      // From here on the first start is under way; it takes some 100 ms.
      while (!existsSync(join(folder, 'data', 'gateway', 'state.db')) && killed.child.exitCode === null) await wait(1);
      await wait(Math.random() * 100);
      killed.child.kill('SIGKILL');
      await killed.ended;
    }
    const last = start(env);
    const address = (await last.until(ready))[1] ?? '';
    const call = (path: string) => request(address, testToken, 'GET', path);
    expect((await call('/v1/user')).body).toMatchObject({ email: 'admin@localhost' });
    expect((await call('/v1/orgs')).body).toMatchObject({ count: 1 });
    const users = await call('/admin/v1/users');
    expect(users.body).toMatchObject({ count: 1 });
    const [admin] = users.body.items as { id: string }[];
    expect((await call(`/admin/v1/users/${admin?.id}/tokens`)).body).toMatchObject({ count: 1 });
  });
});
