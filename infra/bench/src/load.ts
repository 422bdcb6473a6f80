import autocannon from 'autocannon';
import { quantile } from './api.ts';

export interface LoadResult {
  /** Requests a second. */
  readonly throughput: number;
  /** Milliseconds. */
  readonly p99: number;
  readonly failures: number;
}

/** One round of load on one address. */
export const load = async (options: {
  readonly url: string;
  readonly token?: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly connections: number;
  readonly seconds: number;
}): Promise<LoadResult> => {
  const result = await autocannon({
    url: options.url,
    method: options.method ?? 'GET',
    connections: options.connections,
    duration: options.seconds,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  return {
    throughput: result['2xx'] / result.duration,
    p99: result.latency.p99,
    failures: result.non2xx + result.errors,
  };
};

export interface Comparison {
  /** Bindery's throughput as a share of the baseline's. */
  readonly throughput: number;
  /** Bindery's 99th percentile as a multiple of the baseline's. */
  readonly p99: number;
  readonly requestsPerSecond: number;
}

/**
 * Alternates rounds between the two so that the machine's moods hit both, and compares medians.
 * @throws Error when any request failed: a fast error is no result
 */
export const compare = async (
  baseline: Omit<Parameters<typeof load>[0], 'seconds' | 'connections'>,
  product: Omit<Parameters<typeof load>[0], 'seconds' | 'connections'>,
  connections: number,
  seconds: number,
  rounds = 3,
): Promise<Comparison> => {
  const ours: LoadResult[] = [];
  const theirs: LoadResult[] = [];
  await load({ ...baseline, connections, seconds: 1 });
  await load({ ...product, connections, seconds: 1 });
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(await load({ ...baseline, connections, seconds }));
    ours.push(await load({ ...product, connections, seconds }));
  }
  const failures = [...ours, ...theirs].reduce((sum, result) => sum + result.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests failed under load at ${product.url}`);
  const median = (results: readonly LoadResult[], pick: (result: LoadResult) => number): number =>
    quantile(results.map(pick), 0.5);
  return {
    throughput: median(ours, (r) => r.throughput) / median(theirs, (r) => r.throughput),
    p99:
      median(ours, (r) => r.p99) /
      Math.max(
        1,
        median(theirs, (r) => r.p99),
      ),
    requestsPerSecond: median(ours, (r) => r.throughput),
  };
};
