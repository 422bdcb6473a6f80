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

/** Length of one round of {@link warmUp}, in seconds, and what counts as faster than before. */
const WARMING_ROUND_S = 5;
const FASTER = 1.03;

/**
 * Loads an address until two rounds in a row make it no faster: what a process that runs for days does is measured, and not its
 * compilers, which take a tenth to a fifth of the processor for most of the first minute.
 * @param atMostSeconds ends it in any case
 * @returns seconds that it took
 */
export const warmUp = async (
  target: Omit<Parameters<typeof load>[0], 'seconds'>,
  atMostSeconds: number,
): Promise<number> => {
  let best = 0;
  let seconds = 0;
  for (let slower = 0; slower < 2 && seconds < atMostSeconds; seconds += WARMING_ROUND_S) {
    const { throughput } = await load({ ...target, seconds: WARMING_ROUND_S });
    slower = throughput < best * FASTER ? slower + 1 : 0;
    best = Math.max(best, throughput);
  }
  return seconds;
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
