import { MessageBusUnavailable, type RunningConsumer, UnknownTopic } from '../../port.ts';
import { lagOf } from './lag.ts';
import { Membership, type MembershipParts } from './membership.ts';
import { backOff, pause, within } from './within.ts';

const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5000;
/** Parked keys listed at most; there is a page of them on any dashboard, and a count in the metric. */
const MAX_LISTED = 1000;

export type ConsumerState = 'joining' | 'working' | 'down' | 'stopped';

/** A member of a group for as long as it is wanted: a membership, and after a crash another one. */
export class GroupConsumer implements RunningConsumer {
  readonly group: string;
  readonly #parts: Omit<MembershipParts, 'onReady' | 'former'>;
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #membership: Membership | undefined;
  #state: ConsumerState = 'joining';
  #failures = 0;
  #stopping: Promise<void> | undefined;

  constructor(parts: Omit<MembershipParts, 'onReady' | 'former'>) {
    this.group = parts.group;
    this.#parts = parts;
    this.#running = this.#run();
  }

  /** Resolves when it works on its partitions for the first time. @throws MessageBusUnavailable */
  async ready(): Promise<void> {
    const { settings, group } = this.#parts;
    const ms = settings.rebalanceTimeoutMs + settings.requestTimeoutMs;
    try {
      await within(ms, `joining the group ${group}`, this.#ready.promise);
    } catch (error) {
      await this.stop();
      throw new MessageBusUnavailable(`the group ${group} could not be joined`, { cause: error });
    }
  }

  get state(): ConsumerState {
    return this.#stop.signal.aborted ? 'stopped' : this.#state;
  }

  lag(): Promise<{ readonly messages: number; readonly oldestMs: number }> {
    return lagOf(this.#parts);
  }

  async parked(): ReturnType<RunningConsumer['parked']> {
    const { parking, topics } = this.#parts;
    return parking.keys
      .list()
      .filter(({ topic }) => topics.includes(topic))
      .sort((a, b) => a.topic.localeCompare(b.topic) || (a.key < b.key ? -1 : 1))
      .slice(0, MAX_LISTED)
      .map(({ topic, key, reason, messages }) => ({ topic, key, reason, messages }));
  }

  /** Resolves when the key is free again or was parked anew; any member may be asked. */
  async release(topic: string, key: string): Promise<void> {
    const { parking, reader, topics } = this.#parts;
    const { keys } = parking;
    if (!topics.includes(topic)) throw new UnknownTopic(topic);
    await keys.catchUp(reader);
    if (keys.get(topic, key) === undefined) return;
    await keys.askRelease(topic, key);
    while (keys.isReleasing(topic, key)) {
      if (this.#stop.signal.aborted) {
        throw new MessageBusUnavailable('the consumer has stopped; the release goes on elsewhere');
      }
      await keys.changed(this.#stop.signal);
    }
  }

  /** The table of parked keys has changed. */
  wake(): void {
    this.#membership?.wake();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    this.#stop.abort();
    this.#ready.promise.catch(() => undefined); // nobody may be waiting
    this.#ready.reject(new MessageBusUnavailable('the consumer has stopped'));
    await this.#membership?.stop();
    await this.#running;
    await this.#parts.parking.keys.stop();
  }

  async #run(): Promise<void> {
    const { settings, group } = this.#parts;
    while (!this.#stop.signal.aborted) {
      const reason = await this.#live();
      if (this.#stop.signal.aborted) return;
      this.#state = 'down';
      this.#failures += 1;
      settings.onProblem({ kind: 'consumer-crashed', group, error: reason });
      await pause(backOff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS, this.#failures, settings.random), this.#stop.signal);
    }
  }

  /** One membership. @returns why it ended */
  async #live(): Promise<unknown> {
    const onReady = (): void => {
      this.#state = 'working';
      this.#failures = 0;
      this.#ready.resolve();
    };
    const membership = new Membership({ ...this.#parts, former: this.#membership?.memberId, onReady });
    this.#membership = membership;
    try {
      await membership.run();
      return await membership.over;
    } catch (error) {
      return error;
    } finally {
      await membership.stop();
    }
  }
}
