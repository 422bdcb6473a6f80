import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { LogEntry } from './log.ts';

/** Whether an event is for a reader. */
export type Filter = (entry: LogEntry) => boolean;

/** A read or a subscription as it was asked for. Links are not known to a double, ids are always sent as text. */
export interface ReadRequest {
  /** Undefined for $all. */
  readonly stream: string | undefined;
  /** Of $all: a position; of a stream: a revision. Reads include it, subscriptions begin behind it. */
  readonly from: number | 'start' | 'end';
  readonly backwards: boolean;
  readonly subscription: boolean;
  /** Of a read. */
  readonly limit: number;
  readonly filter: Filter;
  /** Events that are considered in one go. */
  readonly window: number;
  /** Considered events after which a filtered subscription is told how far it is. 0 without a filter. */
  readonly checkpointEvery: number;
}

const DEFAULT_WINDOW = 32;

const everything: Filter = () => true;

const filterOf = (options: streams.ReadReq.Options.FilterOptions): Filter => {
  const byStream = options.getStreamIdentifier();
  const expression = byStream ?? options.getEventType();
  const text: (entry: LogEntry) => string = byStream ? ({ stream }) => stream : ({ type }) => type;
  const prefixes = expression?.getPrefixList() ?? [];
  if (prefixes.length > 0) return (entry) => prefixes.some((prefix) => text(entry).startsWith(prefix));
  const pattern = new RegExp(expression?.getRegex() ?? '', 'u');
  return (entry) => pattern.test(text(entry));
};

const fromOf = (options: streams.ReadReq.Options): ReadRequest['from'] => {
  const stream = options.getStream();
  if (stream !== undefined) {
    if (stream.hasRevision()) return Number(stream.getRevision());
    return stream.hasEnd() ? 'end' : 'start';
  }
  const all = options.getAll();
  const position = all?.getPosition();
  if (position !== undefined) return Number(position.getCommitPosition());
  return all?.hasEnd() ? 'end' : 'start';
};

export const readRequestOf = (request: streams.ReadReq): ReadRequest | undefined => {
  const options = request.getOptions();
  if (options === undefined || !(options.hasAll() || options.hasStream())) return undefined;
  const name = options.getStream()?.getStreamIdentifier()?.getStreamName_asU8();
  const filter = options.getFilter();
  const window = filter?.hasMax() ? filter.getMax() : DEFAULT_WINDOW;
  return {
    stream: name && Buffer.from(name).toString('utf8'),
    from: fromOf(options),
    backwards: options.getReadDirection() === 1,
    subscription: options.hasSubscription(),
    limit: Number(options.getCount()),
    filter: filter ? filterOf(filter) : everything,
    window: filter ? window : Number.POSITIVE_INFINITY,
    checkpointEvery: filter ? window * Math.max(1, filter.getCheckpointintervalmultiplier()) : 0,
  };
};
