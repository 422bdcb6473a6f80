import { appendFileSync } from 'node:fs';
import { type Backend, startProxy, type TcpProxy } from '@bindery/backends';
import { type Cluster, type ClusterProcess, openServers, type Servers, startCluster } from '@bindery/testing/cluster';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { call, eventually, must } from './api.ts';
import { Load } from './load.ts';
import { wrongInPublished } from './published.ts';

/** What the design promises under a fault (DESIGN section 10), and how the fault is made. */
interface Fault {
  readonly name: string;
  readonly inject: () => Promise<void>;
  readonly heal: () => Promise<void>;
  /** How long it lasts, in ms. */
  readonly lastsMs: number;
  /** Share of reads that must succeed while it lasts. */
  readonly reads: number;
  /** Share of writes that must succeed while it lasts. */
  readonly writes: number;
  /** Longest that any request may take, in ms. */
  readonly withinMs: number;
  /** Among those of a quick run. */
  readonly quick?: true;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const portOf = (url: string): number => Number(/:(\d+)/.exec(url.replace(/^\w+:\/\//, ''))?.[1]);
const percent = (share: number): string => `${Math.round(share * 100)} %`;

interface Status {
  readonly services: readonly {
    readonly projections: readonly { readonly lag: number }[];
    readonly publisher?: { readonly lag: number };
  }[];
}

describe('the distributed profile under faults', () => {
  let servers: Servers;
  let cluster: Cluster;
  let eventStoreProxy: TcpProxy;
  let mongoProxy: TcpProxy;
  const rows: string[] = [];

  beforeAll(async () => {
    servers = await openServers();
    eventStoreProxy = await startProxy({ targetPort: portOf(servers.eventStore.url) });
    mongoProxy = await startProxy({ targetPort: portOf(servers.mongodb.url) });
    const { EVENTSTORE_URL = '', MONGODB_URL = '' } = servers.environment;
    cluster = await startCluster({
      servers: {
        ...servers.environment,
        EVENTSTORE_URL: EVENTSTORE_URL.replace(/:\d+/, `:${eventStoreProxy.port}`),
        MONGODB_URL: MONGODB_URL.replace(/:\d+/, `:${mongoProxy.port}`),
      },
      identities: 2,
      // Longer than it takes to see that a gateway is not ready any more.
      env: { LEASE_MS: '3000', LOG_LEVEL: 'info', DRAIN_MS: '2000' },
    });
  }, 180_000);
  afterAll(async () => {
    const table = [
      '| fault | reads | writes | longest answer | whole again after | found wrong |',
      '| --- | --- | --- | --- | --- | --- |',
    ];
    const text = `${[...table, ...rows].join('\n')}\n`;
    process.stdout.write(`\n${text}\n`);
    if (process.env.FAULT_TABLE !== undefined) appendFileSync(process.env.FAULT_TABLE, text);
    await cluster?.stop();
    await eventStoreProxy?.close();
    await mongoProxy?.close();
    await servers?.release();
  }, 120_000);

  /** Ready everywhere, a write through each gateway, and no projection or publisher behind. */
  const whole = async (): Promise<true | undefined> => {
    const all = [...cluster.gateways, ...cluster.identities, ...cluster.contents];
    if (!(await Promise.all(all.map((one) => one.ready()))).every(Boolean)) return undefined;
    for (const { url } of cluster.gateways) {
      const answer = await call(cluster, url, 'GET', '/admin/v1/status');
      if (answer.status !== 200) return undefined;
      const { services } = answer.body as Status;
      const behind = services.flatMap(({ projections, publisher }) => [
        ...projections,
        ...(publisher ? [publisher] : []),
      ]);
      if (behind.some(({ lag }) => lag > 0)) return undefined;
    }
    return true;
  };

  const under = async ({ name, inject, heal, lastsMs, reads, writes, withinMs }: Fault): Promise<void> => {
    const load = await Load.start(cluster);
    let injectedAt: number;
    let endedAt: number;
    let healedAt: number;
    try {
      await eventually('the load is answered', async () => (load.writes.length > 10 ? true : undefined));
      injectedAt = performance.now();
      await inject();
      await wait(lastsMs);
      endedAt = performance.now();
      await heal();
      healedAt = performance.now();
      const after = load.writes.length;
      await eventually('writes succeed again', async () =>
        load.writes.slice(after).filter(({ outcome }) => outcome === 'ok').length > 5 ? true : undefined,
      );
    } finally {
      await load.stop();
    }
    const during = load.between(injectedAt, endedAt);
    await eventually('it is whole again', whole);
    const wholeMs = performance.now() - healedAt;
    const wrong = [...(await load.wrong()), ...(await wrongInPublished(servers.kafka.url, load.writes))];
    const share = (ok: number, all: number): number => (all === 0 ? 1 : ok / all);
    const readShare = share(during.reads.filter(({ status }) => status === 200).length, during.reads.length);
    const writeShare = share(during.writes.filter(({ outcome }) => outcome === 'ok').length, during.writes.length);
    const longest = Math.max(0, ...during.reads.map(({ ms }) => ms), ...during.writes.map(({ ms }) => ms));
    rows.push(
      `| ${name} | ${percent(readShare)} of ${during.reads.length} | ${percent(writeShare)} of ${during.writes.length} | ${(longest / 1000).toFixed(1)} s | ${(wholeMs / 1000).toFixed(1)} s | ${wrong.length} |`,
    );
    expect(wrong).toEqual([]);
    const reasons = new Set(
      [...during.reads, ...during.writes].map(({ status, reason }) => reason && `${status} ${reason}`),
    );
    const enough = { reads: readShare >= reads, writes: writeShare >= writes };
    expect({ ...enough, ...(enough.reads && enough.writes ? {} : { reasons: [...reasons] }) }).toEqual({
      reads: true,
      writes: true,
    });
    expect(longest).toBeLessThan(withinMs);
    // Who is told to come back is told when.
    for (const write of load.writes) if (write.status === 503) expect(write.retryAfter).not.toBeNull();
    for (const { status } of [...load.reads, ...load.writes]) expect([0, 200, 201, 503]).toContain(status);
  };

  const killed = (one: () => ClusterProcess) => ({
    inject: () => one().signal('SIGKILL'),
    heal: () => one().start(),
  });
  const frozen = (one: () => ClusterProcess) => ({
    inject: () => one().signal('SIGSTOP'),
    heal: () => one().signal('SIGCONT'),
  });
  const serverKilled = (server: () => Backend) => ({
    inject: () => server().kill(),
    heal: () => server().restart(),
  });
  const serverFrozen = (server: () => Backend) => ({
    inject: () => server().pause(),
    heal: () => server().resume(),
  });
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index];
    if (found === undefined) throw new Error('no such process');
    return found;
  };

  const faults: readonly Fault[] = [
    {
      name: 'one content replica killed (`kill -9`)',
      ...killed(() => at(cluster.contents, 0)),
      ...{ lastsMs: 4000, reads: 0.9, writes: 0.9, withinMs: 15_000, quick: true },
    },
    {
      name: 'the other content replica paused beyond its leases, then continued',
      ...frozen(() => at(cluster.contents, 1)),
      ...{ lastsMs: 10_000, reads: 0.9, writes: 0.5, withinMs: 35_000, quick: true },
    },
    {
      name: 'one gateway killed',
      ...killed(() => at(cluster.gateways, 1)),
      ...{ lastsMs: 3000, reads: 0.9, writes: 0.9, withinMs: 15_000 },
    },
    {
      name: 'one identity replica killed',
      ...killed(() => at(cluster.identities, 0)),
      ...{ lastsMs: 3000, reads: 0.9, writes: 0.9, withinMs: 15_000 },
    },
    {
      name: 'event store killed',
      ...serverKilled(() => servers.eventStore),
      ...{ lastsMs: 5000, reads: 0.5, writes: 0, withinMs: 15_000, quick: true },
    },
    {
      name: 'event store frozen',
      ...serverFrozen(() => servers.eventStore),
      ...{ lastsMs: 8000, reads: 0.5, writes: 0, withinMs: 20_000 },
    },
    {
      name: 'event store 50 ms further away',
      inject: async () => eventStoreProxy.setFault({ kind: 'slow', latencyMs: 50 }),
      heal: async () => eventStoreProxy.heal(),
      ...{ lastsMs: 4000, reads: 1, writes: 1, withinMs: 15_000 },
    },
    {
      name: 'event store connections cut',
      inject: async () => eventStoreProxy.setFault({ kind: 'cut' }),
      heal: async () => eventStoreProxy.heal(),
      ...{ lastsMs: 4000, reads: 0.5, writes: 0, withinMs: 20_000 },
    },
    {
      name: 'read store killed',
      ...serverKilled(() => servers.mongodb),
      ...{ lastsMs: 4000, reads: 0, writes: 0, withinMs: 20_000, quick: true },
    },
    {
      name: 'read store silent (connected, nothing passes)',
      inject: async () => mongoProxy.setFault({ kind: 'silent' }),
      heal: async () => mongoProxy.heal(),
      ...{ lastsMs: 6000, reads: 0, writes: 0, withinMs: 20_000 },
    },
    {
      name: 'Kafka killed',
      ...serverKilled(() => servers.kafka),
      ...{ lastsMs: 4000, reads: 1, writes: 1, withinMs: 10_000, quick: true },
    },
    {
      name: 'Kafka frozen',
      ...serverFrozen(() => servers.kafka),
      ...{ lastsMs: 15_000, reads: 1, writes: 1, withinMs: 10_000 },
    },
    {
      name: 'Redis killed',
      ...serverKilled(() => servers.redis),
      ...{ lastsMs: 4000, reads: 1, writes: 1, withinMs: 10_000 },
    },
    {
      name: 'Redis frozen',
      ...serverFrozen(() => servers.redis),
      ...{ lastsMs: 4000, reads: 1, writes: 1, withinMs: 10_000, quick: true },
    },
    {
      name: 'rolling restart of everything',
      inject: async () => {
        for (const one of [...cluster.contents, ...cluster.identities, ...cluster.gateways]) {
          await one.signal('SIGTERM');
          await one.start();
        }
      },
      heal: async () => undefined,
      ...{ lastsMs: 0, reads: 1, writes: 1, withinMs: 20_000 },
    },
  ];

  const chosen = process.env.FAULTS === 'quick' ? faults.filter(({ quick }) => quick) : faults;
  test.each(chosen.map((fault) => [fault.name, fault] as const))('%s', (_, fault) => under(fault), 240_000);

  test('what was written is the same through both gateways', async () => {
    const { items } = await must<{ items: { id: string }[] }>(cluster, at(cluster.gateways, 0).url, 'GET', '/v1/orgs');
    const path = `/v1/orgs/${items[0]?.id}/spaces?limit=100`;
    const [one, two] = await Promise.all(cluster.gateways.map(({ url }) => must(cluster, url, 'GET', path)));
    expect(one).toEqual(two);
  });
});
