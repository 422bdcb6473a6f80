import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentBytes } from '../product/processes.ts';
import type { Running, StartOptions } from '../product/running.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type Cluster, type ClusterProcess, startCluster } from './cluster.ts';
import { openServers, type Servers } from './servers.ts';

interface Instance {
  readonly servers: Servers;
  readonly cluster: Cluster;
  readonly balancer: Balancer;
}

/** Instances by the directory that stands for them. */
const instances = new Map<string, Instance>();

const processesOf = ({ identities, contents, gateways }: Cluster): readonly ClusterProcess[] => [
  ...identities,
  ...contents,
  ...gateways,
];

const begin = async (options: StartOptions): Promise<Instance> => {
  const servers = await openServers();
  let cluster: Cluster | undefined;
  const balancer = await startBalancer(() => cluster?.gateways.map(({ url }) => url) ?? []);
  try {
    cluster = await startCluster({
      servers: servers.environment,
      env: {
        PUBLIC_URL: balancer.url.replace('127.0.0.1', 'localhost'),
        FAILED_AUTHENTICATION_PER_MINUTE: '0',
        ...options.env,
      },
      ...(options.token === undefined ? {} : { token: options.token }),
    });
    return { servers, cluster, balancer };
  } catch (error) {
    await balancer.close();
    await servers.release();
    throw error;
  }
};

/**
 * The distributed profile with two gateways behind one address, as {@link Running}; its directory only stands for the
 * instance, so that it can be started again after all its processes were killed.
 */
export const startDistributedProduct = async (options: StartOptions): Promise<Running> => {
  const startedAt = performance.now();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'bindery-instance-'));
  const known = instances.get(dataDir);
  if (known !== undefined) await Promise.all(processesOf(known.cluster).map((one) => one.start()));
  const instance = known ?? (await begin(options));
  instances.set(dataDir, instance);
  const { cluster, balancer, servers } = instance;
  const [first] = cluster.gateways;
  if (first === undefined) throw new Error('a cluster has a gateway');
  return {
    url: balancer.url,
    token: cluster.token,
    dataDir,
    process: first.child,
    readyMs: performance.now() - startedAt,
    memory: () => processesOf(cluster).reduce((sum, { pid }) => sum + residentBytes(pid), 0),
    async stop(signal = 'SIGTERM') {
      if (signal !== 'SIGTERM') {
        await Promise.all(processesOf(cluster).map((one) => one.signal('SIGKILL')));
        return;
      }
      await cluster.stop();
      await balancer.close();
      await servers.release();
      instances.delete(dataDir);
      if (options.keep !== true) rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
