import { readFile } from 'node:fs/promises';
import { type Cluster, type ClusterProcess, openServers, type Servers, startCluster } from '@bindery/testing/cluster';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { call, must, type Outcome } from './api.ts';

const tokens = { old: 'o'.repeat(40), next: 'n'.repeat(40) };
const keys = { old: 'a1'.repeat(32), next: 'b2'.repeat(32) };
type Env = Readonly<Record<string, string>>;
interface Listed {
  readonly items: readonly { readonly id: string }[];
  readonly next?: { readonly page: string };
}

/** docs/operations/secrets.md, step by step. */
describe('replacing the service token and the master key', () => {
  let servers: Servers;
  let cluster: Cluster;
  let lists: readonly string[];
  let ada: string;
  let written = 0;

  beforeAll(async () => {
    servers = await openServers();
    cluster = await startCluster({
      servers: servers.environment,
      ...{ gateways: 2, identities: 2, contents: 2 },
      env: { SERVICE_TOKEN: tokens.old, MASTER_KEY: keys.old, LEASE_MS: '2000' },
    });
    const at = cluster.gateways[0]?.url ?? '';
    const person = { email: 'ada@example.org', displayName: 'Ada' };
    ada = (await must<{ id: string }>(cluster, at, 'POST', '/admin/v1/users', person)).id;
    const organization = (await must<Listed>(cluster, at, 'GET', '/v1/orgs')).items[0]?.id;
    const spaces = `/v1/orgs/${organization}/spaces`;
    for (const title of ['One', 'Two']) await must(cluster, at, 'POST', spaces, { title, empty: true });
    const next = async (path: string) => `${path}&page=${(await must<Listed>(cluster, at, 'GET', path)).next?.page}`;
    lists = [await next(`${spaces}?limit=1`), await next('/admin/v1/users?limit=1')];
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await servers?.release();
  }, 120_000);

  /** Something of each service, with cursors from before, and a write. */
  const ask = async (gateways: readonly ClusterProcess[]): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    for (const { url } of gateways) {
      for (const path of [...lists, `/v1/users/${ada}`]) outcomes.push(await call(cluster, url, 'GET', path));
      written += 1;
      const body = { email: `person-${written}@example.org`, displayName: 'Person' };
      outcomes.push(await call(cluster, url, 'POST', '/admin/v1/users', { body }));
    }
    return outcomes;
  };
  const failed = (outcomes: readonly Outcome[]): readonly Outcome[] =>
    outcomes.filter(({ status }) => status === 0 || status >= 300);

  /** One process after the other. @returns how many requests there were meanwhile, and which of them failed */
  const rollOut = async (env: Env): Promise<{ readonly asked: number; readonly failures: readonly Outcome[] }> => {
    const outcomes: Outcome[] = [];
    for (const one of [...cluster.identities, ...cluster.contents, ...cluster.gateways]) {
      const others = cluster.gateways.filter((gateway) => gateway !== one);
      let restarted = false;
      const restarting = one
        .signal('SIGTERM')
        .then(() => one.start(env))
        .finally(() => {
          restarted = true;
        });
      while (!restarted) outcomes.push(...(await ask(others)));
      await restarting;
      // Old and new replicas are side by side now: nothing of theirs may depend on who asks whom.
      expect(failed([...(await ask(cluster.gateways)), ...(await ask(cluster.gateways))])).toEqual([]);
    }
    return { asked: outcomes.length, failures: failed(outcomes) };
  };
  const env = (token: string, accepted: string, key: string, previous: string): Env => ({
    ...{ SERVICE_TOKEN: token, SERVICE_TOKENS_ACCEPTED: accepted, MASTER_KEY: key, MASTER_KEY_PREVIOUS: previous },
  });

  test('in three roll-outs breaks no request, no cursor and no email', async () => {
    const steps = [
      env(tokens.old, tokens.next, keys.old, keys.next),
      env(tokens.next, tokens.old, keys.next, keys.old),
      env(tokens.next, '', keys.next, ''),
    ];
    let asked = 0;
    const failures: Outcome[] = [];
    for (const step of steps) {
      const of = await rollOut(step);
      asked += of.asked;
      failures.push(...of.failures);
    }
    process.stdout.write(`\nrotation: ${asked} requests while processes restarted, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
    const body = { email: 'ADA@example.org', displayName: 'Another' };
    const again = await call(cluster, cluster.gateways[0]?.url ?? '', 'POST', '/admin/v1/users', { body });
    expect(again.status).toBe(409);
  }, 400_000);

  test.each(['identities', 'contents'] as const)(
    '%s refuse the master key that was replaced',
    async (kind) => {
      const [one] = cluster[kind];
      if (one === undefined) throw new Error('there is one');
      await one.signal('SIGTERM');
      await expect(one.start({ MASTER_KEY: keys.old })).rejects.toThrow(/ended with 1/);
      expect(await readFile(one.logFile, 'utf8')).toMatch(/MASTER_KEY \([0-9a-f]{8}\) is not the key/);
      await one.start({ MASTER_KEY: keys.next });
      expect(failed(await ask(cluster.gateways))).toEqual([]);
    },
    60_000,
  );
});
