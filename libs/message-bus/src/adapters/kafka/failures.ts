import { MessageBusUnavailable, PublisherFenced, UnknownTopic } from '../../port.ts';
import { KafkaRefusal, refusalOf } from './refusal.ts';

/** What a failure of the client library means. */
export type FailureKind = 'unknown-topic' | 'fenced' | 'too-large' | 'unavailable';

interface Described {
  readonly type?: unknown;
  readonly cause?: unknown;
  readonly originalError?: unknown;
  readonly errors?: unknown;
}

/** Protocol error names of an error and of what caused it; the library wraps errors up to three times. */
const typesOf = (error: unknown, depth = 0): readonly string[] => {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { type, cause, originalError, errors } = error as Described;
  const inner = [cause, originalError, ...(Array.isArray(errors) ? errors : [])];
  return [...(typeof type === 'string' ? [type] : []), ...inner.flatMap((each) => typesOf(each, depth + 1))];
};

/**
 * A newer publisher has the id, or the broker has ended our transaction because we were away for too long: either way
 * this producer may not write any more.
 */
const FENCED = ['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING', 'INVALID_TXN_STATE'];

/** Whether an error, or one that caused it, is one of the protocol's. */
export const isProtocolError = (error: unknown, ...names: readonly string[]): boolean =>
  typesOf(error).some((type) => names.includes(type));

/** The one place that tells failures apart: by the protocol's name; everything else is "not now". */
export const kindOf = (error: unknown): FailureKind => {
  if (error instanceof UnknownTopic || isProtocolError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return 'unknown-topic';
  if (error instanceof PublisherFenced || isProtocolError(error, ...FENCED)) return 'fenced';
  if (isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) return 'too-large';
  return 'unavailable';
};

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/** The port's error for a failure while doing `what`. */
export const portError = (
  what: string,
  error: unknown,
  context: { topic?: string; publisher?: string } = {},
): Error => {
  if (error instanceof MessageBusUnavailable || error instanceof UnknownTopic || error instanceof PublisherFenced) {
    return error;
  }
  const kind = kindOf(error);
  if (kind === 'unknown-topic' && context.topic !== undefined) return new UnknownTopic(context.topic);
  if (kind === 'fenced' && context.publisher !== undefined) return new PublisherFenced(context.publisher);
  if (kind === 'too-large')
    return new TypeError(`${what}: a message is larger than the broker takes`, { cause: error });
  const refusal = refusalOf(error);
  const text = `${what} failed: ${textOf(error)}`;
  if (refusal !== undefined) return new KafkaRefusal(text, refusal, { cause: error });
  return new MessageBusUnavailable(text, { cause: error });
};
