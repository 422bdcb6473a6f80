import {
  type LetterPage,
  MessageBusUnavailable,
  type ParkedKey,
  type ParkedPage,
  type RunningConsumer,
  UnknownTopic,
} from '../../port.ts';
import { lagOf } from './lag.ts';
import { Membership, type MembershipParts } from './membership.ts';
import { backOff, pause, within } from './within.ts';

const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5000;

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

  async parked(page: ParkedPage = {}): Promise<readonly ParkedKey[]> {
    if (page.fresh === true) await this.#catchUp();
    return this.#parts.parking.keys.list(this.#parts.topics, page);
  }

  async letters(topic: string, key: string, page: Parameters<RunningConsumer['letters']>[2]): Promise<LetterPage> {
    const { parking } = this.#parts;
    await this.#catchUp();
    const state = parking.keys.get(topic, key);
    return state === undefined ? { letters: [] } : parking.page(state, page.limit, page.after);
  }

  async release(topic: string, key: string, signal?: AbortSignal): Promise<void> {
    const { parking, topics } = this.#parts;
    const { keys } = parking;
    if (!topics.includes(topic)) throw new UnknownTopic(topic);
    await this.#catchUp();
    if (keys.get(topic, key) === undefined) return;
    await keys.askRelease(topic, key);
    await this.#released(topic, key, signal);
  }

  async discard(topic: string, key: string, offset: string, signal?: AbortSignal): Promise<boolean> {
    const { parking, topics } = this.#parts;
    const { keys } = parking;
    if (!topics.includes(topic)) throw new UnknownTopic(topic);
    await this.#catchUp();
    if (keys.isReleasing(topic, key) || (await this.#firstOf(topic, key)) !== offset) return false;
    await keys.askRelease(topic, key, { discard: offset });
    await this.#released(topic, key, signal);
    // Somebody may have asked for a release after our look: its end is that of ours too, which nobody has seen then.
    return keys.isReleasing(topic, key) || (await this.#firstOf(topic, key)) !== offset;
  }

  async forget(topic: string, key: string, signal?: AbortSignal): Promise<boolean> {
    const { parking, topics } = this.#parts;
    const { keys } = parking;
    if (!topics.includes(topic)) throw new UnknownTopic(topic);
    await this.#catchUp();
    const state = keys.get(topic, key);
    if (state === undefined || keys.isReleasing(topic, key) || (await this.#firstOf(topic, key)) !== undefined)
      return false;
    await keys.askRelease(topic, key, { forget: true });
    await this.#released(topic, key, signal);
    // It is parked as it was when letters have come after our look; later ones may have been parked on their own.
    return keys.isReleasing(topic, key) || keys.get(topic, key)?.since !== state.since;
  }

  /** Offset of the first message of a key that waits. */
  async #firstOf(topic: string, key: string): Promise<string | undefined> {
    const { parking, settings } = this.#parts;
    const state = parking.keys.get(topic, key);
    if (state === undefined) return undefined;
    const over = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(settings.requestTimeoutMs)]);
    return (await parking.first(state, over))?.offset;
  }

  /** Waits for the end of a release that was just asked for. */
  async #released(topic: string, key: string, signal: AbortSignal | undefined): Promise<void> {
    const { keys } = this.#parts.parking;
    const over = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
    while (keys.isReleasing(topic, key) && signal?.aborted !== true) {
      if (this.#stop.signal.aborted) {
        throw new MessageBusUnavailable('the consumer has stopped; the release goes on elsewhere');
      }
      await keys.changed(over);
    }
  }

  /** What other members have parked and released until now is known here afterwards. */
  async #catchUp(): Promise<void> {
    const { parking, reader, settings, group } = this.#parts;
    try {
      await within(settings.requestTimeoutMs, 'reading the parked keys', parking.keys.catchUp(reader));
    } catch (error) {
      throw new MessageBusUnavailable(`the parked keys of ${group} cannot be read now`, { cause: error });
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
