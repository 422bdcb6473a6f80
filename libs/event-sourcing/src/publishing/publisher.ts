import type { RecordedEvent } from '@bindery/event-store';
import {
  type Publisher as BusPublisher,
  type CloudEvent,
  deadLetterTopic,
  type MessageBus,
  serviceTopic,
} from '@bindery/message-bus';
import type { ServiceStatus } from '@bindery/service-kit';
import type { DomainEvent, Recorded } from '../decider.ts';
import type { Instruments } from '../instruments.ts';
import type { PublicMapping } from '../service-runtime.ts';
import type { EpochPosition } from '../shared/epoch.ts';
import { reasonOf } from '../shared/failures.ts';
import type { HeldLease } from '../shared/lease.ts';
import { Pace } from '../shared/pace.ts';
import { Worker, type WorkerParts } from '../shared/worker.ts';
import { deadLetter, envelope, positionOf } from './envelope.ts';

export interface PublisherParts extends WorkerParts {
  readonly bus: MessageBus;
  readonly instruments: Instruments;
  readonly publicMapping: PublicMapping;
  readonly validatePublic: (event: CloudEvent) => void;
}

/** Messages of one publish call, and events that are published before it is seen whether the position must be stored. */
const BATCH = 200;
/** Messages after which the position is stored at once; fewer wait for the next time that it is stored anyway. */
const UNSAVED = 200;
/**
 * Messages at the end of the topic that are compared with what is about to be published. More than are published without a
 * stored position, as long as 200 events make no more than 800 messages (usually one each); beyond that some come twice.
 */
const TAIL = 1000;

/** Under this id the publisher of a service writes to the bus: one at a time. */
export const publisherId = (service: string): string => `${service}-publisher`;

interface Outgoing {
  readonly messages: { readonly key: string; readonly event: CloudEvent }[];
  readonly refused: { readonly key: string; readonly event: CloudEvent }[];
}

/**
 * Turns a service's own events into public ones and puts them on its topic, in order, at least once (DESIGN section 5,
 * PITFALLS 29): a checkpoint follows what is acknowledged, some time later; what it does not tell is found at the end of the
 * topic.
 */
export class Publisher extends Worker {
  readonly #parts: PublisherParts;
  readonly #topic: string;
  readonly #deadLetters: string;
  #refused = 0;

  constructor(parts: PublisherParts) {
    super(parts, 'publisher');
    this.#parts = parts;
    this.#topic = serviceTopic(parts.service);
    this.#deadLetters = deadLetterTopic(publisherId(parts.service));
  }

  async status(): Promise<NonNullable<ServiceStatus['publisher']>> {
    const { position, head, lag, oldestMs, state, error } = await this.lag();
    const alarm = this.#refused === 0 ? undefined : `${this.#refused} events are in ${this.#deadLetters}`;
    const text = error ?? alarm;
    return { topic: this.#topic, position, head, lag, oldestMs, state, ...(text === undefined ? {} : { error: text }) };
  }

  protected override async follow(lease: HeldLease, epoch: EpochPosition, succeeded: () => void): Promise<void> {
    const { bus, service } = this.#parts;
    await bus.ensureTopics([this.#topic, this.#deadLetters]);
    // Refuses whatever an earlier holder that was only paused still wants to write, before the end of the topic is read.
    const publisher = await bus.openPublisher(publisherId(service));
    try {
      await this.#followAs(publisher, lease, epoch, succeeded);
    } finally {
      await publisher.close();
    }
  }

  async #followAs(
    publisher: BusPublisher,
    lease: HeldLease,
    epoch: EpochPosition,
    succeeded: () => void,
  ): Promise<void> {
    const { bus, eventStore, prefixes, tuning } = this.#parts;
    const tail = await bus.last(this.#topic, TAIL);
    const { position, refused } = await epoch.takeOver(lease.fence, async () => {
      const oldest = oldestOf(tail.map(({ event }) => event));
      // A log that was restored from a backup ends before what the topic has: where it was published up to is not known.
      return oldest > (await eventStore.head(prefixes)) ? 0 : oldest;
    });
    this.#refused = refused;
    this.moved(position);
    const pace = new Pace(tuning.gatherMs);
    const published = new Set(tail.map(({ event }) => event.id));
    let unsaved = 0;
    for await (const item of eventStore.subscribe({ after: position, prefixes, signal: lease.signal })) {
      if (item.kind === 'events') {
        for (let start = 0; start < item.events.length; start += BATCH) {
          const events = item.events.slice(start, start + BATCH);
          const before = this.#refused;
          unsaved += await this.#publish(publisher, events, published, lease);
          if (unsaved < UNSAVED && this.#refused === before) continue;
          await epoch.save(events.at(-1)?.position ?? item.position, this.#refused);
          unsaved = 0;
        }
      } else {
        published.clear(); // nothing that comes from now on can be there already
        this.live();
      }
      this.moved(item.position);
      succeeded();
      if (item.kind === 'caught-up') await pace.gather(lease.signal);
    }
  }

  /** @returns how many messages left */
  async #publish(
    publisher: BusPublisher,
    events: readonly RecordedEvent[],
    published: Set<string>,
    lease: HeldLease,
  ): Promise<number> {
    const { service, instruments } = this.#parts;
    const outgoing: Outgoing = { messages: [], refused: [] };
    for (const event of events) this.#map(this.#parts.aggregates.read(event), published, outgoing);
    const { messages, refused } = outgoing;
    for (let start = 0; start < messages.length; start += BATCH) {
      lease.signal.throwIfAborted();
      await publisher.publish(this.#topic, messages.slice(start, start + BATCH));
    }
    if (messages.length > 0) instruments.published.add(messages.length, { service });
    if (refused.length > 0) {
      await publisher.publish(this.#deadLetters, refused);
      this.#refused += refused.length;
      instruments.deadLetters.add(refused.length, { service });
    }
    return messages.length;
  }

  #map(cause: Recorded<DomainEvent>, published: Set<string>, outgoing: Outgoing): void {
    const { service, publicMapping, validatePublic, telemetry } = this.#parts;
    let event: CloudEvent | undefined;
    try {
      for (const [index, mapped] of publicMapping(cause).entries()) {
        event = envelope(service, cause, mapped, index);
        if (published.has(event.id)) continue;
        validatePublic(event);
        outgoing.messages.push({ key: event.subject, event });
        event = undefined;
      }
    } catch (error) {
      const reason = reasonOf(error);
      telemetry.logger.error('a public event does not fit its schema', { event: cause.id, type: cause.type, reason });
      const letter = deadLetter(service, this.#topic, cause, event, reason);
      outgoing.refused.push({ key: letter.subject, event: letter });
    }
  }
}

/** Where to go on when the checkpoint is lost: from the oldest event of the topic's tail; newer ones are compared by id. */
const oldestOf = (events: readonly CloudEvent[]): number => {
  const positions = events.map(positionOf).filter((position) => position !== undefined);
  return positions.length === 0 ? 0 : Math.min(...positions);
};
