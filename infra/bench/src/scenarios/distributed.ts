import { serviceTopic } from '@bindery/message-bus';
import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import { type Cluster, openServers, type Servers, startCluster } from '@bindery/testing/cluster';
import { startProduct } from '@bindery/testing/product';
import { call, organizationOf, quantile, timed } from '../api.ts';
import { startBaseline, startBaselineChain } from '../baseline-process.ts';
import { compare, load, warmUp } from '../load.ts';
import { atLeast, atMost, type Figure, holds, noted } from '../report.ts';

interface Target {
  readonly url: string;
  readonly token: string;
}

const makeSpaces = async (target: Target, count: number): Promise<readonly string[]> => {
  const organization = await organizationOf(target);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { title: `Space ${index}` };
    ids.push((await call<{ id: string }>(target, 'POST', `/v1/orgs/${organization}/spaces`, body)).id);
  }
  return ids;
};

const targetOf = ({ gateways, token }: Cluster, index: number): Target => ({ url: gateways[index]?.url ?? '', token });

/** Longest time to warm up, in seconds, by that of a round: `--quick` is for a glance. */
const warmUpSeconds = (roundSeconds: number): number => (roundSeconds < 2 ? 5 : 60);

/** GET space as a share of bare processes that return the same bytes: one for the embedded profile, two for the distributed. */
const getSpace = async (target: Target, spaceId: string, baseline: typeof startBaseline, seconds: number) => {
  const path = `/v1/spaces/${spaceId}`;
  const bytes = JSON.stringify(await call(target, 'GET', path));
  const bare = await baseline(bytes, 200);
  try {
    const ours = { url: `${target.url}${path}`, token: target.token };
    await warmUp({ url: `${bare.url}/answer`, connections: 20 }, warmUpSeconds(seconds));
    await warmUp({ ...ours, connections: 20 }, warmUpSeconds(seconds));
    return await compare({ url: `${bare.url}/answer` }, ours, 20, Math.max(3, seconds));
  } finally {
    await bare.stop();
  }
};

/** From sending a write to one gateway until the other one shows it. */
const visible = async (cluster: Cluster, spaceId: string, rounds: number): Promise<readonly number[]> => {
  const path = `/v1/spaces/${spaceId}/change-requests`;
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [one, other] = [targetOf(cluster, round % 2), targetOf(cluster, (round + 1) % 2)];
    const startedAt = performance.now();
    const { id } = await call<{ id: string }>(one, 'POST', path, { subject: `visible ${round}` });
    for (;;) {
      const response = await fetch(`${other.url}${path}/${id}`, {
        headers: { authorization: `Bearer ${other.token}` },
      });
      await response.arrayBuffer();
      if (response.ok) break;
    }
    times.push(performance.now() - startedAt);
  }
  return times;
};

/** From the time of a command, which stands in its event, until a consumer of Kafka has the event. */
const consumed = async (
  cluster: Cluster,
  brokers: string,
  spaceId: string,
  rounds: number,
): Promise<readonly number[]> => {
  const bus = openKafkaMessageBus({ brokers: brokers.split(',') });
  const times: number[] = [];
  const done = Promise.withResolvers<void>();
  const consumer = await bus.consume({
    group: `bench-${process.pid}`,
    topics: [serviceTopic('content')],
    from: 'end',
    handle: async ({ event }) => {
      if (event.type === 'bindery.content.change-request.opened.v1') times.push(Date.now() - Date.parse(event.time));
      if (times.length === rounds) done.resolve();
      return { kind: 'done' };
    },
  });
  try {
    const path = `/v1/spaces/${spaceId}/change-requests`;
    // A group that starts at the end sees nothing until it has joined: it is asked until it has.
    while (times.length === 0) await call(targetOf(cluster, 0), 'POST', path, { subject: 'joined?' });
    while (times.length < rounds) {
      await call(targetOf(cluster, times.length % 2), 'POST', path, { subject: 'consumed' });
    }
    await done.promise;
    return times.slice(1);
  } finally {
    await consumer.stop();
    await bus.close();
  }
};

/** Events that were appended while the broker was away: how long they take afterwards, and whether each key is in order. */
const drained = async (cluster: Cluster, { kafka }: Servers, spaceId: string, count: number) => {
  await kafka.kill();
  const path = `/v1/spaces/${spaceId}/change-requests`;
  const ids = new Set<string>();
  const writer = async (): Promise<void> => {
    while (ids.size < count) {
      const { id } = await call<{ id: string }>(targetOf(cluster, ids.size % 2), 'POST', path, { subject: 'queued' });
      ids.add(id);
    }
  };
  const writingMs = await timed(() => Promise.all(Array.from({ length: 16 }, writer)));
  await kafka.restart();
  const bus = openKafkaMessageBus({ brokers: kafka.url.split(',') });
  let inOrder = true;
  const last = new Map<string, string>();
  const seen = new Set<string>();
  const missing = new Set(ids);
  const drainMs = await timed(async () => {
    const stop = new AbortController();
    for await (const { key, event } of bus.tail([serviceTopic('content')], {
      from: 'beginning',
      follow: true,
      signal: stop.signal,
    })) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      const { sequence = '' } = event;
      if (sequence < (last.get(key) ?? '')) inOrder = false;
      last.set(key, sequence);
      missing.delete(event.subject);
      if (missing.size === 0) stop.abort();
    }
  });
  await bus.close();
  return { drainMs, inOrder, writingMs };
};

/** Throughput of CPU-bound reads with two content replicas, as a multiple of that with one. */
const twoOverOne = async (seconds: number): Promise<number> => {
  const results: number[] = [];
  for (const contents of [1, 2]) {
    const servers = await openServers();
    const cluster = await startCluster({ servers: servers.environment, contents, gateways: 1 });
    try {
      const target = targetOf(cluster, 0);
      await makeSpaces(target, 50);
      const url = `${target.url}/v1/orgs/${await organizationOf(target)}/spaces?limit=50`;
      const options = { url, token: target.token, connections: 20 };
      await warmUp(options, warmUpSeconds(seconds) / 2);
      const rounds = [];
      for (let round = 0; round < 5; round += 1)
        rounds.push((await load({ ...options, seconds: Math.max(3, seconds) })).throughput);
      results.push(quantile(rounds, 0.5));
    } finally {
      await cluster.stop();
      await servers.release();
    }
  }
  return (results[1] ?? 0) / (results[0] ?? 1);
};

/** The distributed profile beside the embedded one. */
export const distributed = async (seconds: number): Promise<Figure[]> => {
  const figures: Figure[] = [];
  const quick = seconds < 2;
  const embedded = await startProduct();
  try {
    const [space = ''] = await makeSpaces(embedded, 1);
    const share = await getSpace(embedded, space, startBaseline, seconds);
    figures.push(noted('embedded: GET space, share of bare Express', share.throughput));
    const path = `/v1/spaces/${space}/change-requests`;
    const posts = await load({
      ...{ url: `${embedded.url}${path}`, token: embedded.token, method: 'POST', body: '{"subject":"x"}' },
      ...{ connections: 20, seconds },
    });
    figures.push(noted('embedded: POST change request', posts.throughput, '/s'));
  } finally {
    await embedded.stop();
  }
  const servers = await openServers();
  try {
    const cluster = await startCluster({ servers: servers.environment });
    try {
      const [space = '', other = '', third = ''] = await makeSpaces(targetOf(cluster, 0), 3);
      const share = await getSpace(targetOf(cluster, 0), space, startBaselineChain, seconds);
      figures.push(
        atLeast('distributed: GET space, share of two bare Express processes', share.throughput, 0.35),
        noted('distributed: GET space', share.requestsPerSecond, '/s'),
      );
      const posts = await load({
        ...{ url: `${targetOf(cluster, 0).url}/v1/spaces/${third}/change-requests`, token: cluster.token },
        ...{ method: 'POST', body: '{"subject":"x"}', connections: 20, seconds },
      });
      figures.push(noted('distributed: POST change request', posts.throughput, '/s'));
      const seen = await visible(cluster, space, quick ? 100 : 400);
      figures.push(
        noted('write to visible through the other gateway, p50', quantile(seen, 0.5), ' ms'),
        atMost('write to visible through the other gateway, p99', quantile(seen, 0.99), 250, ' ms'),
      );
      const got = await consumed(cluster, servers.kafka.url, other, quick ? 100 : 400);
      figures.push(
        noted('append to Kafka consumer, p50', quantile(got, 0.5), ' ms'),
        atMost('append to Kafka consumer, p99', quantile(got, 0.99), 500, ' ms'),
      );
      const count = quick ? 1000 : 10_000;
      const { drainMs, inOrder, writingMs } = await drained(cluster, servers, other, count);
      figures.push(
        noted(`${count} events written while Kafka is away`, writingMs / 1000, ' s'),
        noted(`${count} queued events drained after the broker's restart`, drainMs / 1000, ' s'),
        holds('queued events in order', inOrder),
      );
    } finally {
      await cluster.stop();
    }
  } finally {
    await servers.release();
  }
  figures.push(atLeast('50 spaces listed: two content replicas over one', await twoOverOne(seconds), 0.95));
  return figures;
};
