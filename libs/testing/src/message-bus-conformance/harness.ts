import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  BusMessage,
  CloudEvent,
  ConsumerOptions,
  Handled,
  MessageBus,
  RunningConsumer,
} from '@bindery/message-bus';

/** One place for messages (a file, a broker) that may be opened again and by several clients at once. */
export interface MessageBusPlace {
  /** A new client of the same data. */
  open(): Promise<MessageBus>;
  /** Stops the broker without warning and starts it again with its data; for buses that are a server of their own. */
  restart?(): Promise<void>;
  /** Writes messages without a key, as other programs may: into as many partitions as they like. */
  writeKeyless(topic: string, events: readonly CloudEvent[]): Promise<void>;
  /** Removes all messages of a topic, past the library, as an administrator of the bus may. */
  loseMessages(topic: string): Promise<void>;
  /** Removes what the place needed; every client is closed by then. */
  dispose(): Promise<void>;
}

/** What an adapter gives to its conformance suite. */
export interface MessageBusHarness {
  /** May be shared with other tests: the suite uses topics and groups of its own. */
  createPlace(): Promise<MessageBusPlace>;
  readonly capabilities?: {
    /** Size of the payload that must be accepted, in bytes. Default 1,000,000. */
    readonly payloadBytes?: number;
  };
  /** The longest that a message, a rebalance or a take-over may need, in ms. Default 8,000. */
  readonly patienceMs?: number;
  /** Messages of the test of scale. Default 30,000. */
  readonly manyMessages?: number;
}

export interface Sandbox {
  readonly bus: MessageBus;
  readonly place: MessageBusPlace;
  /** A topic that exists and is empty. */
  readonly topic: string;
  readonly otherTopic: string;
  /** Name of a group that does not exist yet. */
  group(name: string): string;
  open(): Promise<MessageBus>;
  /** Waits until the condition holds. @throws after the patience of the harness, with the description */
  until(description: string, condition: () => boolean | Promise<boolean>): Promise<void>;
}

/** Runs `work` with a bus and topics of its own; closes every client afterwards. */
export const withBus = async (harness: MessageBusHarness, work: (sandbox: Sandbox) => Promise<void>): Promise<void> => {
  const place = await harness.createPlace();
  const opened: MessageBus[] = [];
  const open = async (): Promise<MessageBus> => {
    const client = await place.open();
    opened.push(client);
    return client;
  };
  const until: Sandbox['until'] = async (description, condition) => {
    const patience = harness.patienceMs ?? 8000;
    const end = performance.now() + patience;
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`not within ${patience} ms: ${description}`);
      await delay(2);
    }
  };
  try {
    const bus = await open();
    const unique = randomUUID().slice(0, 8);
    const [topic, otherTopic] = [`bindery.t${unique}.v1`, `bindery.u${unique}.v1`] as const;
    await bus.ensureTopics([topic, otherTopic]);
    await work({ bus, place, topic, otherTopic, group: (name) => `${name}-${unique}`, open, until });
  } finally {
    await Promise.all(opened.map((client) => client.close()));
    await place.dispose();
  }
};

/** Data of the events of the suite. */
export interface Numbered {
  readonly n: number;
}

/** A message to publish; its key is the subject. */
export const messageOf = (key: string, data: unknown = {}): { readonly key: string; readonly event: CloudEvent } => ({
  key,
  event: {
    specversion: '1.0',
    id: randomUUID(),
    source: '/services/testing',
    type: 'bindery.testing.something.happened.v1',
    subject: key,
    time: '2030-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    dataschema: 'https://example.org/schemas/something',
    data,
  },
});

/** Messages `{ n: from }`, `{ n: from + 1 }` ... of one key. */
export const numbered = (key: string, count: number, from = 0): ReturnType<typeof messageOf>[] =>
  Array.from({ length: count }, (_, index) => messageOf(key, { n: from + index }));

export const numberOf = (message: BusMessage): number => (message.event as CloudEvent<Numbered>).data.n;

/** Everything of an iterable. */
export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

/** A consumer that keeps what its handler did. */
export class Recorder {
  readonly messages: BusMessage[] = [];
  readonly #running: RunningConsumer;

  private constructor(running: RunningConsumer, messages: BusMessage[]) {
    this.#running = running;
    this.messages = messages;
  }

  /** Starts consuming; `decide` says what becomes of a message (done by default), which is recorded when it says so. */
  static async start(
    bus: MessageBus,
    options: Omit<ConsumerOptions, 'handle'>,
    decide: (message: BusMessage, signal: AbortSignal) => Promise<Handled> = async () => ({ kind: 'done' }),
  ): Promise<Recorder> {
    const messages: BusMessage[] = [];
    const handle = async (message: BusMessage, signal: AbortSignal): Promise<Handled> => {
      const handled = await decide(message, signal);
      if (handled.kind === 'done') messages.push(message);
      return handled;
    };
    return new Recorder(await bus.consume({ backoffMs: 5, ...options, handle }), messages);
  }

  /** Numbers handled for a key, in order. */
  numbers(key: string): number[] {
    return this.messages.filter((message) => message.key === key).map(numberOf);
  }

  get consumer(): RunningConsumer {
    return this.#running;
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }
}

/** `[0, 1, ... count - 1]` */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A door that handlers can be made to wait at. */
export const gate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};
