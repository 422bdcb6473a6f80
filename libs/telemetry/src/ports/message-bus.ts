import type {
  BusMessage,
  CloudEvent,
  ConsumerOptions,
  Handled,
  MessageBus,
  RunningConsumer,
} from '@bindery/message-bus';
import { followUp } from '../follow-up.ts';
import type { Span, Telemetry } from '../port.ts';
import type { System } from './calls.ts';

/** Names of the consumers' metrics. */
export const CONSUMER_METRIC = {
  messages: 'bindery_consumer_messages_total',
  duration: 'bindery_consumer_duration_seconds',
  lag: 'bindery_consumer_lag_messages',
  age: 'bindery_consumer_oldest_seconds',
  parked: 'bindery_consumer_parked_keys',
} as const;

interface Running {
  readonly group: string;
  readonly consumer: RunningConsumer;
}

/**
 * A bus that is seen. Each message that leaves is a PRODUCER span under the context that its event carries (the command that
 * caused it); the event carries that span on, as the creation context. Each message that is handled is a CONSUMER span that
 * continues the trace. Outcomes are counted; lag, age and parked keys are gauges per group.
 */
export const observedMessageBus = (
  bus: MessageBus,
  telemetry: Telemetry,
  system: System,
  now: () => number = Date.now,
): MessageBus => {
  const { tracer, metrics } = telemetry;
  const running = new Set<Running>();
  const sending = {
    'messaging.system': system,
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'publish',
  };
  const messages = metrics.counter(CONSUMER_METRIC.messages, 'Messages handled, by what became of them.', [
    'group',
    'outcome',
  ]);
  const duration = metrics.histogram(CONSUMER_METRIC.duration, 'Time that a group took to handle a message.', [
    'group',
  ]);
  const gauge = (name: string, help: string, read: (consumer: RunningConsumer) => Promise<number>): void =>
    metrics.gauge(name, help, ['group'], async () => {
      const values = await Promise.allSettled(
        [...running].map(async ({ group, consumer }) => ({ value: await read(consumer), labels: { group } })),
      );
      return values.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    });
  gauge(CONSUMER_METRIC.lag, 'Messages that a group has not handled yet.', async (consumer) => {
    const { messages: behind } = await consumer.lag();
    return behind;
  });
  gauge(CONSUMER_METRIC.age, 'Age of the oldest message that a group has not handled yet.', async (consumer) => {
    const { oldestMs } = await consumer.lag();
    return oldestMs / 1000;
  });
  gauge(CONSUMER_METRIC.parked, 'Keys of a group that wait in its dead-letter topic.', async (consumer) => {
    const { length } = await consumer.parked();
    return length;
  });

  const observed = (group: string, handle: ConsumerOptions['handle']): ConsumerOptions['handle'] => {
    const counted = async (message: BusMessage, signal: AbortSignal): Promise<Handled> => {
      const started = performance.now();
      let outcome: Handled['kind'] = 'retry'; // what a throw counts as
      try {
        const handled = await handle(message, signal);
        outcome = handled.kind;
        return handled;
      } finally {
        duration.record((performance.now() - started) / 1000, { group });
        messages.add(1, { group, outcome });
      }
    };
    if (!tracer.enabled) return counted;
    return (message, signal) => {
      const { event, topic } = message;
      const options = { kind: 'consumer' as const, attributes: receivedAttributes(message, group, system) };
      return tracer.span(
        `process ${topic}`,
        { ...options, ...followUp(event.traceparent, event.time, now()) },
        async (span: Span) => {
          const handled = await counted(message, signal);
          if (handled.kind !== 'done') span.fail(new NotHandled(handled.kind));
          return handled;
        },
      );
    };
  };

  const traced = (publish: MessageBus['publish']): MessageBus['publish'] => {
    if (!tracer.enabled) return publish;
    return async (topic, batch) => {
      const spans: Span[] = [];
      const carrying = batch.map(({ key, event }) => {
        const attributes = {
          ...sending,
          'messaging.destination.name': topic,
          'messaging.message.id': event.id,
          ...attributesOf(event),
        };
        const tie = followUp(event.traceparent, event.time, now());
        const span = tracer.start(`publish ${topic}`, { kind: 'producer', attributes, ...tie });
        spans.push(span);
        return { key, event: span.traceparent === undefined ? event : { ...event, traceparent: span.traceparent } };
      });
      try {
        await publish(topic, carrying);
      } catch (error) {
        for (const span of spans) span.fail(error);
        throw error;
      } finally {
        for (const span of spans) span.end();
      }
    };
  };

  return {
    ensureTopics: (topics) => bus.ensureTopics(topics),
    publish: traced((topic, batch) => bus.publish(topic, batch)),
    openPublisher: async (id) => {
      const publisher = await bus.openPublisher(id);
      return {
        publish: traced((topic, batch) => publisher.publish(topic, batch)),
        close: () => publisher.close(),
      };
    },
    tail: (topics, options) => bus.tail(topics, options),
    last: (topic, count) => bus.last(topic, count),
    close: () => bus.close(),
    consume: async (options) => {
      const consumer = await bus.consume({ ...options, handle: observed(options.group, options.handle) });
      const entry = { group: options.group, consumer };
      running.add(entry);
      return {
        lag: () => consumer.lag(),
        parked: (page) => consumer.parked(page),
        letters: (topic, key, page) => consumer.letters(topic, key, page),
        release: (topic, key, signal) => consumer.release(topic, key, signal),
        discard: (topic, key, offset, signal) => consumer.discard(topic, key, offset, signal),
        forget: (topic, key, signal) => consumer.forget(topic, key, signal),
        stop: () => {
          running.delete(entry);
          return consumer.stop();
        },
      };
    },
  };
};

/** Gives the span the outcome as the type of its error; never the reason, which may carry data. */
class NotHandled extends Error {
  readonly code: string;
  constructor(outcome: string) {
    super(outcome);
    this.code = `message.${outcome}`;
  }
}

const attributesOf = (event: CloudEvent) => ({
  'cloudevents.event_id': event.id,
  'cloudevents.event_source': event.source,
  'cloudevents.event_type': event.type,
});

const receivedAttributes = (message: BusMessage, group: string, system: System) => ({
  'messaging.system': system,
  'messaging.operation.type': 'process',
  'messaging.operation.name': 'process',
  'messaging.destination.name': message.topic,
  'messaging.destination.partition.id': String(message.partition),
  'messaging.consumer.group.name': group,
  'messaging.message.id': message.event.id,
  ...(system === 'kafka'
    ? { 'messaging.kafka.offset': Number(message.offset), 'messaging.kafka.message.key': message.key }
    : {}),
  ...attributesOf(message.event),
});
