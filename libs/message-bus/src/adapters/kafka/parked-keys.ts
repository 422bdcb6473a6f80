import { randomUUID } from 'node:crypto';
import { MessageBusUnavailable, type ParkedKey, type ParkedPage } from '../../port.ts';
import { headersOf, type OutgoingRecord, outgoing, type StoredRecord } from './messages.ts';
import { followWaitMs, type KafkaSettings } from './options.ts';
import { Reader } from './reader.ts';
import type { Sender } from './sender.ts';
import { backOff, pause } from './within.ts';

/** Where a group keeps which keys are parked; compacted. */
export const parkedKeysTopic = (group: string): string => `bindery.${group}.parked-keys.v1`;

/** What is known of a parked key. The messages are in the dead-letter topic, from `from` on. */
export interface ParkedState extends Omit<ParkedKey, 'releasing'> {
  /** Partition of the topic; whoever works on it alone writes this. */
  readonly partition: number;
  /** Place of the first dead letter that waits. */
  readonly deadPartition: number;
  readonly from: string;
  /** Offset in the topic of the last message that was parked: an earlier one that comes again is here already. */
  readonly last: string;
}

/** A key that is to be released. */
export interface WantedRelease {
  readonly topic: string;
  readonly key: string;
  /** Offset in the topic of a message that no handler is to have again. */
  readonly discard?: string;
  /** Only when there are no dead letters any more: the key is free without them. */
  readonly forget?: true;
}

const VERSION = 'version';
const RETRY_MS = 200;
const MAX_RETRY_MS = 5000;
/** Parked keys of one page at most; the metric counts no more. */
const MAX_LISTED = 1000;

type Named = { readonly topic: string; readonly key: string };
const inOrder = (a: Named, b: Named): number => {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
};

const parkedName = (topic: string, key: string): string => JSON.stringify(['parked', topic, key]);
const releaseName = (topic: string, key: string): string => JSON.stringify(['release', topic, key]);

/**
 * The table of parked keys of a group: a compacted topic, followed by every member. The member that works on the
 * partition of a key is the only one to write its state; anyone may ask for its release, which is a record of its own.
 */
export class ParkedKeys {
  readonly #topic: string;
  readonly #group: string;
  readonly #settings: KafkaSettings;
  readonly #reader: Reader;
  readonly #sender: Sender;
  readonly #parked = new Map<string, ParkedState>();
  readonly #releases = new Map<string, WantedRelease>();
  /** Own writes that we know of before we read them: until then older ones of the same name are behind us. */
  readonly #ahead = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #onChange: () => void;
  #position = 0n;
  #moved = Promise.withResolvers<void>();
  readonly #following: Promise<void>;

  constructor(group: string, settings: KafkaSettings, sender: Sender, onChange: () => void) {
    this.#topic = parkedKeysTopic(group);
    this.#group = group;
    this.#settings = settings;
    this.#sender = sender;
    this.#onChange = onChange;
    this.#reader = new Reader(settings);
    this.#following = this.#follow();
  }

  get(topic: string, key: string): ParkedState | undefined {
    return this.#parked.get(parkedName(topic, key));
  }

  /** A page of the keys of some topics, as far as the table has been read. */
  list(topics: readonly string[], { limit = MAX_LISTED, after, only }: ParkedPage): readonly ParkedKey[] {
    return [...this.#parked.values()]
      .filter(({ topic }) => topics.includes(topic))
      .filter((state) => only === undefined || (state.topic === only.topic && state.key === only.key))
      .filter((state) => after === undefined || inOrder(state, after) > 0)
      .sort(inOrder)
      .slice(0, Math.min(limit, MAX_LISTED))
      .map(({ topic, key, reason, attempts, since, messages }) => ({
        ...{ topic, key, reason, attempts, since, messages },
        releasing: this.isReleasing(topic, key),
      }));
  }

  isReleasing(topic: string, key: string): boolean {
    return this.#releases.has(releaseName(topic, key));
  }

  /** Keys whose release is wanted. */
  releases(): readonly WantedRelease[] {
    return [...this.#releases.values()];
  }

  /** Resolves when everything that is in the table now has been read. @throws MessageBusUnavailable */
  async catchUp(reader: Reader): Promise<void> {
    const end = (await reader.offsets(this.#topic, 'next')).get(0) ?? 0n;
    while (this.#position < end) {
      if (this.#stop.signal.aborted) throw new MessageBusUnavailable('the consumer has stopped');
      await this.#moved.promise;
    }
  }

  /** Resolves at the next change, or when `signal` aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal, this.#stop.signal]);
    await Promise.race([this.#moved.promise, pause(60_000, either)]);
    over.abort();
  }

  /** Stores the state of keys; all of them or, when it fails, perhaps some. */
  async put(states: readonly ParkedState[]): Promise<void> {
    await this.#write(
      states.map((state) => ({
        name: parkedName(state.topic, state.key),
        value: JSON.stringify(state),
        apply: () => this.#parked.set(parkedName(state.topic, state.key), state),
      })),
    );
  }

  /** The key is free again, and no release of it is wanted any more. */
  async remove(topic: string, key: string): Promise<void> {
    const name = parkedName(topic, key);
    await this.#write([{ name, value: null, apply: () => this.#parked.delete(name) }]);
    await this.endRelease(topic, key);
  }

  /** @param discard a message of the key that is not to be handled */
  async askRelease(topic: string, key: string, how: Pick<WantedRelease, 'discard' | 'forget'> = {}): Promise<void> {
    const name = releaseName(topic, key);
    // What is to be given up stays so, whoever asks for the rest again.
    const wanted = { topic, key, ...this.#releases.get(name), ...how };
    await this.#write([{ name, value: JSON.stringify(wanted), apply: () => this.#releases.set(name, wanted) }]);
  }

  async endRelease(topic: string, key: string): Promise<void> {
    const name = releaseName(topic, key);
    await this.#write([{ name, value: null, apply: () => this.#releases.delete(name) }]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#reader.close();
    this.#wake();
    await this.#following;
  }

  async #write(
    changes: readonly { readonly name: string; readonly value: string | null; readonly apply: () => unknown }[],
  ): Promise<void> {
    const version = randomUUID();
    const records: readonly OutgoingRecord[] = changes.map(({ name, value }) =>
      outgoing(name, value === null ? null : Buffer.from(value), { [VERSION]: version }, 0),
    );
    for (const { name } of changes) this.#ahead.set(name, version);
    try {
      await this.#sender.send(this.#topic, records);
    } catch (error) {
      for (const { name } of changes) if (this.#ahead.get(name) === version) this.#ahead.delete(name);
      throw error;
    }
    for (const { name, apply } of changes) if (this.#ahead.get(name) === version) apply();
    this.#wake();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#readOn();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#settings.onProblem({ kind: 'consumer', group: this.#group, error });
        await pause(backOff(RETRY_MS, MAX_RETRY_MS, failures, this.#settings.random), signal);
      }
    }
  }

  async #readOn(): Promise<void> {
    if (this.#position === 0n) this.#position = (await this.#reader.offsets(this.#topic, 'first')).get(0) ?? 0n;
    const place = { topic: this.#topic, partition: 0, offset: this.#position };
    const [page] = await this.#reader.fetch([place], followWaitMs(this.#settings));
    if (page === undefined) return;
    for (const record of page.records) this.#apply(record);
    // Nothing, although there is more: compaction has emptied the rest.
    const next = page.next === this.#position && page.end > page.next ? page.end : page.next;
    if (next === this.#position) return;
    this.#position = next;
    this.#wake();
  }

  #apply({ record }: StoredRecord): void {
    const name = record.key?.toString('utf8') ?? '';
    const awaited = this.#ahead.get(name);
    if (awaited !== undefined && headersOf(record)[VERSION] !== awaited) return;
    this.#ahead.delete(name);
    if (record.value === null) {
      this.#parked.delete(name);
      this.#releases.delete(name);
      return;
    }
    const value: unknown = JSON.parse(record.value.toString('utf8'));
    if (name.startsWith('["parked"')) {
      // Releases before these two were known wrote none.
      const former = { attempts: 0, since: new Date(Number(record.timestamp)).toISOString() };
      this.#parked.set(name, { ...former, ...(value as ParkedState) });
    } else this.#releases.set(name, value as WantedRelease);
  }

  #wake(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers<void>();
    this.#onChange();
  }
}
