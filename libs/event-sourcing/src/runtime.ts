import { randomUUID } from 'node:crypto';
import { isProblem, type ServiceStatus } from '@bindery/service-kit';
import { Aggregates } from './aggregates.ts';
import { type RepositoryParts, StreamRepository } from './commands/stream-repository.ts';
import type { AggregateDefinition, DomainCommand, DomainEvent } from './decider.ts';
import { createInstruments, gaugeLags, METRIC } from './instruments.ts';
import type { LiveCollection } from './projection.ts';
import { Projections } from './projections/projections.ts';
import { Publisher } from './publishing/publisher.ts';
import { ParkedStreams } from './reactors/parked-streams.ts';
import { ReactorWorker } from './reactors/reactor-worker.ts';
import type { Repository } from './repository.ts';
import type { RuntimeOptions, ServiceRuntime } from './service-runtime.ts';
import { notRunning, reasonOf } from './shared/failures.ts';
import { Gate } from './shared/gate.ts';
import { Lru } from './shared/lru.ts';
import type { WorkerParts } from './shared/worker.ts';
import { defaultTuning } from './tuning.ts';

/** Streams of which a process knows that their documents are written. */
const MARKS = 20_000;

/** Wires everything of DESIGN sections 4 and 5 for one service. Nothing is opened before `start`. */
export const createServiceRuntime = (options: RuntimeOptions): ServiceRuntime => new Runtime(options);

class Runtime implements ServiceRuntime {
  readonly #options: RuntimeOptions;
  readonly #aggregates: Aggregates;
  readonly #projections: Projections;
  readonly #publisher: Publisher;
  readonly #reactors: readonly ReactorWorker[];
  readonly parkedStreams: ParkedStreams;
  readonly #repositoryParts: RepositoryParts;
  #state: 'new' | 'starting' | 'running' | 'stopped' = 'new';
  #stopping: Promise<void> | undefined;

  constructor(options: RuntimeOptions) {
    const { service, ports, reactors = [] } = options;
    const { eventStore, readStore, telemetry, clock } = ports;
    const cache = ports.locks ?? ports.cache;
    const tuning = { ...defaultTuning, ...options.tuning };
    const instruments = createInstruments(telemetry.metrics);
    const prefixes = [`${service}.`];
    const assertRunning = (): void => {
      if (this.#state !== 'running') throw notRunning(service);
    };
    this.#options = options;
    this.#aggregates = new Aggregates(service);
    const shared = { service, eventStore, readStore, cache, telemetry, clock, tuning, prefixes, instruments };
    const state = { gate: new Gate(), marks: new Lru<number>(MARKS), inFlight: new Map<string, Promise<void>>() };
    this.#projections = new Projections(
      { ...shared, ...state, aggregates: this.#aggregates },
      options.projections,
      assertRunning,
    );
    const worker: WorkerParts = { ...shared, aggregates: this.#aggregates, holder: randomUUID() };
    const { bus } = ports;
    const { publicMapping, validatePublic } = options;
    this.#publisher = new Publisher({ ...worker, bus, instruments, publicMapping, validatePublic });
    this.parkedStreams = new ParkedStreams(readStore, service, tuning.failuresUntilAlarm);
    this.#reactors = reactors.map((reactor) => new ReactorWorker(worker, reactor));
    this.#repositoryParts = {
      ...shared,
      aggregates: this.#aggregates,
      afterAppend: this.#projections.inline,
      assertRunning,
    };
  }

  get live(): LiveCollection {
    return this.#projections.live;
  }

  repository<S, C extends DomainCommand, E extends DomainEvent>(
    aggregate: AggregateDefinition<S, C, E>,
  ): Repository<S, C, E> {
    this.#aggregates.register(aggregate);
    return new StreamRepository(aggregate, this.#repositoryParts);
  }

  async repair(stream: string): Promise<void> {
    await this.#projections.inline.repair(stream);
  }

  async waitFor(projection: string, position: number, timeoutMs: number): Promise<boolean> {
    return this.#projections.waitFor(projection, position, timeoutMs);
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error(`${this.#options.service} was started before`);
    this.#state = 'starting';
    this.#registerGauges();
    await this.#projections.start();
    if (this.#stopping !== undefined) return;
    this.#state = 'running';
    this.#publisher.start();
    for (const reactor of this.#reactors) reactor.start();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // Reactors first: what they have in hand may still issue commands.
    await Promise.all(this.#reactors.map((reactor) => reactor.stop()));
    await this.#publisher.stop();
    this.#state = 'stopped';
    await this.#projections.stop();
  }

  notReady(): readonly string[] {
    const { service } = this.#options;
    if (this.#state === 'stopped') return [`${service}: stopped`];
    const reasons = this.#projections.notReady();
    if (this.#state !== 'running' && reasons.length === 0) return [`${service}: starting`];
    return reasons.map((reason) => `${service}: ${reason}`);
  }

  async status(): Promise<ServiceStatus> {
    const { service, ports } = this.#options;
    const [events, projections, publisher, reactors] = await Promise.all([
      ports.eventStore.count(),
      this.#projections.status(),
      this.#publisher.status(),
      Promise.all(this.#reactors.map((reactor) => reactor.status())),
    ]);
    return { service, events, projections, publisher, ...(reactors.length === 0 ? {} : { reactors }) };
  }

  async rebuild(projections?: readonly string[]): Promise<{ readonly events: number; readonly durationMs: number }> {
    try {
      return await this.#projections.rebuild(projections);
    } catch (error) {
      const { service, ports } = this.#options;
      if (!isProblem(error)) ports.telemetry.logger.error('a rebuild failed', { service, reason: reasonOf(error) });
      throw error;
    }
  }

  #registerGauges(): void {
    const { service, ports } = this.#options;
    const { metrics } = ports.telemetry;
    const { projectionLag, projectionAge, publisherLag, publisherAge, reactorLag, reactorAge } = METRIC;
    gaugeLags(metrics, { lag: projectionLag, age: projectionAge, what: 'projection' }, service, () =>
      this.#projections.lags(),
    );
    gaugeLags(metrics, { lag: publisherLag, age: publisherAge, what: 'publisher' }, service, async () => [
      { name: 'publisher', lag: await this.#publisher.lag() },
    ]);
    gaugeLags(metrics, { lag: reactorLag, age: reactorAge, what: 'reactor' }, service, () =>
      Promise.all(this.#reactors.map(async (reactor) => ({ name: reactor.name, lag: await reactor.lag() }))),
    );
    metrics.gauge(METRIC.reactorParked, 'Streams that a reactor has put aside.', ['service', 'reactor'], () =>
      this.#reactors.map((reactor) => ({ value: reactor.parked().length, labels: { service, reactor: reactor.name } })),
    );
    metrics.gauge(METRIC.rebuildProgress, 'Share of the log that a rebuild has read.', ['service'], () => {
      const { progress } = this.#projections;
      return progress === undefined ? [] : [{ value: progress, labels: { service } }];
    });
  }
}
