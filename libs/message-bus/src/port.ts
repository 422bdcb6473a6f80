/** A CloudEvents 1.0 event as we publish it. `id` is the event id of the domain event, so consumers drop repeats by it. */
export interface CloudEvent<T = unknown> {
  readonly specversion: '1.0';
  readonly id: string;
  /** `/services/<service>` */
  readonly source: string;
  /** For example `bindery.content.change-request.merged.v1`. */
  readonly type: string;
  /** Aggregate id: the partition key. */
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly dataschema: string;
  /** Never absent, so that no tombstone is written (PITFALLS 49). */
  readonly data: T;
  /** Extension attributes. */
  readonly organizationid?: string;
  readonly traceparent?: string;
  readonly correlationid?: string;
  /** Place in the source's log, padded so that texts compare like numbers (the CloudEvents extension `sequence`). */
  readonly sequence?: string;
}

/** Topic of a service: `bindery.<service>.v1`. */
export const serviceTopic = (service: string): string => `bindery.${service}.v1`;
/** Dead letters of a consumer group: `bindery.<group>.dead-letters.v1`. */
export const deadLetterTopic = (group: string): string => `bindery.${group}.dead-letters.v1`;

export interface BusMessage {
  readonly topic: string;
  readonly partition: number;
  /** Grows within a partition. */
  readonly offset: string;
  readonly key: string;
  readonly event: CloudEvent;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What became of a message. `retry`: transient, again after a back-off, the partition waits. `park`: cannot be handled;
 * it and later messages of its key go to the dead-letter topic with the reason until released (PITFALLS 35).
 */
export type Handled =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly reason: string }
  | { readonly kind: 'park'; readonly reason: string };

export interface ConsumerOptions {
  readonly group: string;
  readonly topics: readonly string[];
  /** Called one message at a time per partition. A throw counts as `retry`; after `maxAttempts` (default 5) as `park`. */
  readonly handle: (message: BusMessage, signal: AbortSignal) => Promise<Handled>;
  readonly maxAttempts?: number;
  /** First back-off in ms (doubles, jitter, at most 30 s). Default 200. */
  readonly backoffMs?: number;
  /** Where a new group starts. Default `beginning`. */
  readonly from?: 'beginning' | 'end';
}

/** A key that waits: its first message could not be handled, the later ones wait behind it. */
export interface ParkedKey {
  readonly topic: string;
  /** Of any length. Messages that others have written without a key have one with a zero character, or the empty one. */
  readonly key: string;
  /** Why the first message is here. */
  readonly reason: string;
  /** How often a handler had the first message, all releases together; 0 for one that cannot be read. */
  readonly attempts: number;
  /** Since when the key waits; ISO 8601. A release that fails does not change it. */
  readonly since: string;
  /** Messages that wait. */
  readonly messages: number;
  /** A release was asked for and has not come to its end. */
  readonly releasing: boolean;
}

/** Which parked keys are wanted: a page, in the order of topic and key (by code point). */
export interface ParkedPage {
  /** 1 to 1,000; default 1,000. */
  readonly limit?: number;
  /** Only keys behind this one. */
  readonly after?: { readonly topic: string; readonly key: string };
  /** Only this one. */
  readonly only?: { readonly topic: string; readonly key: string };
  /** Also what other members have done until now; otherwise what this member knows, without asking the bus. */
  readonly fresh?: boolean;
}

/** A message that waits, as it was published, and why it is here. */
export interface DeadLetter {
  /** Where it came from. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly reason: string;
  /** How often a handler had it before it was parked; 0 for one that only waits behind an earlier one. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly parkedAt: string;
  /** Of the value. */
  readonly bytes: number;
  /** Absent when it cannot be read as an event. */
  readonly event?: CloudEvent;
}

/** Letters of one key, the oldest first. */
export interface LetterPage {
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins; absent when there is nothing more. */
  readonly next?: string;
}

export interface RunningConsumer {
  /** Messages behind, and the age in ms of the oldest unhandled one (PITFALLS 36). */
  lag(): Promise<{ readonly messages: number; readonly oldestMs: number }>;
  /** Keys that wait in the dead-letter topic. @throws MessageBusUnavailable when they are to be `fresh` */
  parked(page?: ParkedPage): Promise<readonly ParkedKey[]>;
  /**
   * The messages of a key that wait; none when it is not parked. A page may hold fewer than `limit` and still have a
   * `next`: letters of other keys lie between.
   * @param page `limit` from 1 to 100; `after` is a `next` of before
   * @throws MessageBusUnavailable, RangeError when `after` is none
   */
  letters(topic: string, key: string, page: { readonly limit: number; readonly after?: string }): Promise<LetterPage>;
  /**
   * Hands parked messages of a key to the handler again, in order, and later ones of the key behind them; when one fails
   * the key stays parked from there on, and so it does when dead letters are missing. Whichever member works on the key does it, now or after a restart.
   * Resolves when that has come to its end, at once when the key is not parked, or, while it goes on, when `signal` aborts.
   * @throws MessageBusUnavailable, UnknownTopic
   */
  release(topic: string, key: string, signal?: AbortSignal): Promise<void>;
  /**
   * Gives up the first message that waits of a key: no handler has it again, its dead letter stays where it is. Those behind
   * it are released, as by `release`.
   * @param offset of that message: another one that is the first by now is not given up in its stead
   * @returns false, and nothing was done, when it is not the first one (any more), or a release is under way
   * @throws MessageBusUnavailable, UnknownTopic
   */
  discard(topic: string, key: string, offset: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * Forgets a key whose dead letters are gone, all of them: they are handled by nobody, and messages that come from now on
   * are handled again. Whichever member works on the key does it. Resolves like `release`.
   * @returns false, and nothing was done, when the key is not parked, a release is under way, or there are letters
   * @throws MessageBusUnavailable, UnknownTopic
   */
  forget(topic: string, key: string, signal?: AbortSignal): Promise<boolean>;
  /** Ends after the message in hand. */
  stop(): Promise<void>;
}

/** The topic does not exist; topics are created by `ensureTopics` only. A mistake in the program or its deployment: no retry. */
export class UnknownTopic extends Error {
  readonly code = 'message_bus.unknown_topic';
  readonly topic: string;
  constructor(topic: string) {
    super(`there is no topic ${topic}`);
    this.topic = topic;
  }
}

/** The bus cannot take or give messages now; the outcome of a publish is unknown and it is safe to publish again. */
export class MessageBusUnavailable extends Error {
  readonly code = 'message_bus.unavailable';
}

/** A later publisher was opened under the same id: this one may not write any more, for good (PITFALLS 30). */
export class PublisherFenced extends Error {
  readonly code = 'message_bus.publisher_fenced';
  readonly publisher: string;
  constructor(publisher: string) {
    super(`a later publisher ${publisher} has taken over`);
    this.publisher = publisher;
  }
}

/** The one that may publish under an id, until another is opened under it. */
export interface Publisher {
  /**
   * Like `publish` of the bus, and all or nothing: readers see all of the messages or none.
   * After `MessageBusUnavailable` the outcome is unknown and this publisher is used up: whoever still has the right to
   * publish opens another, which also settles the outcome, and looks at the end of the topic.
   * @throws PublisherFenced, MessageBusUnavailable, UnknownTopic, TypeError when an event is not JSON
   */
  publish(topic: string, messages: readonly { readonly key: string; readonly event: CloudEvent }[]): Promise<void>;
  close(): Promise<void>;
}

/** The message bus port (DESIGN section 5): durable topics, order per key, at least once. */
export interface MessageBus {
  /** Creates the topics when absent; topics are never created by use. */
  ensureTopics(topics: readonly string[]): Promise<void>;
  /** Durable when it resolves, in the order given. @throws MessageBusUnavailable, UnknownTopic, TypeError when an event is not JSON */
  publish(topic: string, messages: readonly { readonly key: string; readonly event: CloudEvent }[]): Promise<void>;
  /**
   * Becomes the publisher of an id (a text of the form of a topic's name); every earlier one of that id, in whatever
   * process, is refused from now on, and what it had not finished is undone. @throws MessageBusUnavailable
   */
  openPublisher(id: string): Promise<Publisher>;
  /** Joins a group; the dead-letter topic of the group is created when absent. @throws UnknownTopic, MessageBusUnavailable */
  consume(options: ConsumerOptions): Promise<RunningConsumer>;
  /** Reads a topic without a group, for tailing: from the beginning or only what comes. Ends when `signal` aborts. */
  tail(
    topics: readonly string[],
    options: { readonly from: 'beginning' | 'end'; readonly follow: boolean; readonly signal: AbortSignal },
  ): AsyncIterable<BusMessage>;
  /** The last messages of a topic, newest last: lets a publisher skip what is already there (PITFALLS 29). */
  last(topic: string, count: number): Promise<readonly BusMessage[]>;
  close(): Promise<void>;
}
