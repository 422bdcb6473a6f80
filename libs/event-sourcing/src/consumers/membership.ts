import type { ConsumerOptions, MessageBus, RunningConsumer } from '@bindery/message-bus';
import { Problem } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import { pause, superviseLoop } from '../shared/loop.ts';

/** How often an own member looks whether it is to end, in ms: only a bound for a wait that the signal ends. */
const LOOK_MS = 60_000;

/** A place in a consumer group, from `start` to `stop`. */
export interface Membership {
  readonly group: string;
  /** The member, for what an operator asks of it. @throws Problem 503 while the bus is away */
  consumer(): RunningConsumer;
  start(): void;
  /** Ends after the message in hand. */
  stop(): Promise<void>;
}

/**
 * Joins a consumer group in the background and goes on trying while the bus is away: a process serves without it, and what
 * it has not consumed waits on the bus (DESIGN section 10).
 */
export const createMembership = (deps: {
  readonly bus: MessageBus;
  readonly logger: Logger;
  readonly options: ConsumerOptions;
}): Membership => {
  const { bus, logger, options } = deps;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let joined: RunningConsumer | undefined;

  const consume = async (signal: AbortSignal, succeeded: () => void): Promise<void> => {
    await bus.ensureTopics(options.topics);
    const consumer: RunningConsumer = await bus.consume(options);
    joined = consumer;
    succeeded();
    try {
      while (!signal.aborted) await pause(LOOK_MS, signal);
    } finally {
      joined = undefined;
      await consumer.stop();
    }
  };

  return {
    group: options.group,
    consumer() {
      if (joined !== undefined) return joined;
      const message = `The consumer group ${options.group} has not joined the message bus; try again in a moment.`;
      throw new Problem('unavailable', 'consumer_group.not_joined', message, { retryAfter: 1 });
    },
    start() {
      const loop = { name: `consumer ${options.group}`, logger, signal: stopping.signal, mostMs: 5000 };
      running ??= superviseLoop(loop, consume);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
