import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryCache } from '@bindery/cache/memory';
import {
  type CommandMetadata,
  createServiceRuntime,
  type RuntimeOptions,
  type RuntimeTuning,
  type ServicePorts,
  type ServiceRuntime,
} from '@bindery/event-sourcing';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import type { IdSource } from '@bindery/service-kit';
import { noopTelemetry } from '@bindery/telemetry';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { sequentialIds } from './sequential-ids.ts';
import { until } from './until.ts';

/** Real adapters of the embedded profile in a folder of their own. */
export interface TestPorts extends ServicePorts {
  readonly clock: ManualClock;
  readonly folder: string;
  /** Closes the stores; keeps the folder, to open it again as after a restart. */
  close(): Promise<void>;
  /** Closes the stores and removes the folder. */
  remove(): Promise<void>;
}

/** Opens the ports, in a new folder or one that an earlier call has left. */
export const openTestPorts = async (
  options: {
    readonly folder?: string;
    readonly clock?: ManualClock;
    readonly telemetry?: ServicePorts['telemetry'];
  } = {},
): Promise<TestPorts> => {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'bindery-test-')));
  const eventStore = openSqliteEventStore({ path: join(folder, 'events.db') });
  const readStore = await openSqliteReadStore({ path: join(folder, 'read.db') });
  const bus = openEmbeddedMessageBus({ path: join(folder, 'bus.db') });
  const cache = createMemoryCache();
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await bus.close();
    await readStore.close();
    await eventStore.close();
    await cache.close();
  };
  return {
    eventStore,
    readStore,
    bus,
    cache,
    telemetry: options.telemetry ?? noopTelemetry(),
    clock: options.clock ?? manualClock(),
    folder,
    close,
    remove: async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Waits that suit tests: failures are tried again at once, leases move within a fraction of a second. */
export const quickTuning: Partial<RuntimeTuning> = {
  checkpointMs: 20,
  projectWithinMs: 50,
  headStartMs: 30,
  generationPollMs: 40,
  dropAfterMs: 50,
  leaseMs: 600,
  backoffMs: 5,
  maxBackoffMs: 40,
  failuresUntilAlarm: 3,
};

export type TestRuntimeOptions = Omit<RuntimeOptions, 'ports' | 'publicMapping' | 'validatePublic'> &
  Partial<Pick<RuntimeOptions, 'publicMapping' | 'validatePublic'>> & {
    /** Ports to use instead of new ones; the caller closes them. */
    readonly ports?: ServicePorts;
  };

export interface TestRuntime {
  readonly runtime: ServiceRuntime;
  readonly ports: ServicePorts;
  /** Metadata of a command by a user, with ids in order. */
  metadata(change?: Partial<CommandMetadata>): CommandMetadata;
  /** Waits until projections, publisher and reactors have handled everything that is stored. */
  settled(): Promise<void>;
  /** Stops the runtime and removes the ports that this made. */
  stop(): Promise<void>;
}

/** Runtimes made so far: each has ids of its own, since the same ids mean the same commands. */
let runtimes = 0;
const nextIds = (): IdSource => {
  runtimes += 1;
  return sequentialIds(runtimes);
};

/**
 * A runtime that was not started yet, so that the test can make repositories first.
 *
 *     const { runtime, metadata, stop } = await testRuntime({ service: 'content', projections });
 *     const spaces = runtime.repository(spaceAggregate);
 *     await runtime.start();
 */
export const testRuntime = async (options: TestRuntimeOptions, ids: IdSource = nextIds()): Promise<TestRuntime> => {
  const own = options.ports === undefined ? await openTestPorts() : undefined;
  const ports = options.ports ?? own;
  if (ports === undefined) throw new Error('no ports');
  const runtime = createServiceRuntime({
    publicMapping: () => [],
    validatePublic: () => undefined,
    ...options,
    ports,
    tuning: { ...quickTuning, ...options.tuning },
  });
  return {
    runtime,
    ports,
    metadata: (change = {}) => ({
      correlationId: 'request-1',
      causationId: 'request-1',
      actor: { kind: 'user', id: 'user-1' },
      now: ports.clock.now(),
      eventId: () => ids.eventId(),
      ...change,
    }),
    settled: () =>
      until('everything is handled', async () => {
        const { projections, publisher, reactors = [] } = await runtime.status();
        return [...projections, ...(publisher === undefined ? [] : [publisher]), ...reactors].every(
          ({ lag, state }) => lag === 0 && state === 'live',
        );
      }),
    stop: async () => {
      await runtime.stop();
      await own?.remove();
    },
  };
};
