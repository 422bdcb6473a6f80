import type { Position, SubscriptionItem } from '@bindery/event-store';
import { followUp, type Span } from '@bindery/telemetry';
import { isUnavailable, reasonOf } from '../shared/failures.ts';
import { Backoff, superviseLoop } from '../shared/loop.ts';
import { Pace } from '../shared/pace.ts';
import { applyPage, applyPageAlone, type Page } from './apply-page.ts';
import { checkpointWrite, type ProjectionContext } from './context.ts';
import type { Tracked } from './tracked.ts';

/** Links of a span; more events than this in a page are not linked. */
const MAX_LINKS = 32;

/**
 * The one loop of a service that follows its log: repairs inline documents and feeds async projections, page by page.
 * A projection that fails leaves the loop, tries again by itself with growing waits, and joins when it has caught up.
 */
export class Runner {
  readonly #context: ProjectionContext;
  readonly #attached: Set<Tracked>;
  readonly #alone = new Map<Tracked, AbortController>();
  readonly #stop = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #caughtUp = Promise.withResolvers<void>();
  /** Everything up to here was given to the projections that are attached. */
  #done: Position = 0;
  /** The page in hand ends here. Who catches up alone joins from here on. */
  #claimed: Position = 0;
  #interrupted: string | undefined;
  #live = false;

  constructor(context: ProjectionContext) {
    this.#context = context;
    this.#attached = new Set(context.tracked);
  }

  /** Resolves when the loop has reached the end of the log for the first time. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Whether it has reached the end of the log since the start. */
  get live(): boolean {
    return this.#live;
  }

  /** Why nothing moves, while a store is away. */
  get interrupted(): string | undefined {
    return this.#interrupted;
  }

  start(): void {
    if (this.#attached.size === 0) {
      this.#becomeLive();
      return;
    }
    this.#done = this.#least();
    this.#claimed = this.#done;
    const { service, telemetry, tuning } = this.#context;
    this.#run(
      superviseLoop(
        {
          name: `${service} projections`,
          logger: telemetry.logger,
          signal: this.#stop.signal,
          firstMs: tuning.backoffMs,
          onFailure: (error) => {
            this.#interrupted = reasonOf(error);
          },
        },
        (signal, succeeded) => this.#follow(signal, succeeded),
      ),
    );
  }

  /** Ends after the page in hand and stores the checkpoints. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const task of this.#alone.values()) task.abort();
    await Promise.all(this.#tasks);
    await this.saveCheckpoints();
  }

  /** Stores checkpoints that moved without a write. A failure costs some events read again after a restart. */
  async saveCheckpoints(): Promise<void> {
    const context = this.#context;
    const moved = context.tracked.filter(({ position, saved }) => position > saved);
    if (moved.length === 0) return;
    const positions = moved.map(({ position }) => position);
    try {
      await context.readStore.batch(
        moved.map((tracked, index) => checkpointWrite(context, tracked, positions[index] ?? tracked.position)),
      );
    } catch (error) {
      context.telemetry.logger.debug('checkpoints are stored later', { reason: reasonOf(error) });
      return;
    }
    for (const [index, tracked] of moved.entries()) tracked.saved = Math.max(tracked.saved, positions[index] ?? 0);
  }

  /** Takes up a projection whose documents are another generation's from now on. To be called with the gate closed. */
  adopt(tracked: Tracked): void {
    this.#alone.get(tracked)?.abort();
    this.#alone.delete(tracked);
    tracked.error = undefined;
    if (tracked.position >= this.#claimed) this.#attach(tracked);
    else this.#detach(tracked, undefined);
  }

  async #follow(signal: AbortSignal, succeeded: () => void): Promise<void> {
    const { eventStore, prefixes, tuning } = this.#context;
    const pace = new Pace(tuning.gatherMs);
    while (!signal.aborted) {
      // When the one that was furthest behind has left, there is nothing to read for the others up to where they are.
      this.#done = Math.max(this.#done, this.#least());
      let ended = true;
      for await (const item of eventStore.subscribe({ after: this.#done, prefixes, signal })) {
        await this.#take(item);
        succeeded();
        this.#interrupted = undefined;
        if (signal.aborted) return;
        ended = this.#least() <= this.#done;
        if (!ended) break;
        if (item.kind === 'caught-up') await pace.gather(signal);
      }
      if (ended) return;
    }
  }

  async #take(item: SubscriptionItem): Promise<void> {
    const page: Page = item.kind === 'events' ? item : { events: [], position: item.position };
    await this.#commandsInHand(page);
    await this.#context.gate.pass(async () => {
      this.#claimed = Math.max(this.#claimed, page.position);
      const failures = await this.#traced(page, () => applyPage(this.#context, [...this.#attached], page));
      for (const [tracked, failure] of failures) this.#detach(tracked, failure);
      this.#done = Math.max(this.#done, page.position);
    });
    if (item.kind === 'caught-up') this.#becomeLive();
  }

  /** Commands of this process are about to write these documents themselves: better to wait than to do it twice. */
  async #commandsInHand(page: Page): Promise<void> {
    const { inFlight } = this.#context;
    if (inFlight.size === 0) return;
    const waits = new Set<Promise<void>>();
    for (const { stream } of page.events) {
      const wait = inFlight.get(stream);
      if (wait !== undefined) waits.add(wait);
    }
    if (waits.size > 0) await Promise.all(waits);
  }

  async #traced<T>(page: Page, work: (span?: Span) => Promise<T>): Promise<T> {
    const { tracer } = this.#context.telemetry;
    if (!tracer.enabled || !this.#live) return work(); // what is old starts no traces
    const followed = page.events.filter((event) =>
      [...this.#attached].some((tracked) => !tracked.inline && tracked.handles(event)),
    );
    if (followed.length === 0) return work();
    const causes = [...new Set(followed.map(({ metadata }) => metadata.traceparent))];
    const [first] = followed;
    const [only] = causes;
    // One request's events continue its trace; those of several have a trace of their own, linked to all of them.
    const tie =
      causes.length === 1 && first !== undefined
        ? followUp(only, first.metadata.time, this.#context.clock.now().getTime())
        : { root: true, links: causes.slice(0, MAX_LINKS) };
    const attributes = { 'bindery.events': followed.length };
    return tracer.span(`project ${this.#context.service}`, { kind: 'consumer', attributes, ...tie }, work);
  }

  #becomeLive(): void {
    this.#live = true;
    for (const tracked of this.#attached) tracked.state = 'live';
    this.#caughtUp.resolve();
  }

  #attach(tracked: Tracked): void {
    this.#attached.add(tracked);
    tracked.error = undefined;
    tracked.state = this.#live ? 'live' : 'catching-up';
  }

  #detach(tracked: Tracked, failure: Error | undefined): void {
    this.#attached.delete(tracked);
    tracked.state = 'catching-up';
    tracked.error = failure?.message;
    if (this.#stop.signal.aborted) return;
    const task = new AbortController();
    this.#alone.set(tracked, task);
    this.#run(this.#catchUpAlone(tracked, AbortSignal.any([task.signal, this.#stop.signal]), failure));
  }

  async #catchUpAlone(tracked: Tracked, signal: AbortSignal, first: Error | undefined): Promise<void> {
    const { tuning } = this.#context;
    const backoff = new Backoff(tuning.backoffMs, tuning.maxBackoffMs);
    let failure: unknown = first;
    while (!signal.aborted) {
      if (failure !== undefined) {
        this.#note(tracked, failure, backoff.failures + 1);
        await backoff.wait(signal);
      }
      const before = tracked.position;
      try {
        if (await this.#readUntilAttached(tracked, signal)) return;
        failure = undefined;
      } catch (error) {
        failure = error;
      }
      if (tracked.position > before) backoff.reset();
    }
  }

  #note(tracked: Tracked, failure: unknown, failures: number): void {
    tracked.error = reasonOf(failure);
    if (isUnavailable(failure) || failures < this.#context.tuning.failuresUntilAlarm) return;
    if (tracked.state !== 'failed')
      this.#context.telemetry.logger.error('a projection has failed; it is tried again from time to time', {
        projection: tracked.projection.name,
        reason: tracked.error,
      });
    tracked.state = 'failed';
  }

  /** @returns true when it has joined the others */
  async #readUntilAttached(tracked: Tracked, signal: AbortSignal): Promise<boolean> {
    const { eventStore, prefixes, gate } = this.#context;
    for await (const item of eventStore.subscribe({ after: tracked.position, prefixes, signal })) {
      const page: Page = item.kind === 'events' ? item : { events: [], position: item.position };
      const joined = await gate.pass(async () => {
        if (signal.aborted) return false;
        await applyPageAlone(this.#context, tracked, page);
        if (tracked.position < this.#claimed) return false;
        this.#alone.delete(tracked);
        this.#attach(tracked);
        return true;
      });
      if (joined) return true;
    }
    return false;
  }

  #least(): Position {
    if (this.#attached.size === 0) return this.#done;
    return Math.min(...[...this.#attached].map(({ position }) => position));
  }

  #run(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }
}
