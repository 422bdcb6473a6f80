import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EncodedEvent } from '../../encode.ts';
import type { ExpectedRevision, Position } from '../../port.ts';
import type { LogFilter } from './filters.ts';
import { allAfter, allBefore, allFromEnd } from './positions.ts';

const { AppendReq, ReadReq } = streams;
const FORWARDS = 0;
const BACKWARDS = 1;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const identifierOf = (stream: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(bytesOf(stream));

const optionsOf = (limit: number | undefined, backwards: boolean): streams.ReadReq.Options => {
  const options = new ReadReq.Options()
    .setReadDirection(backwards ? BACKWARDS : FORWARDS)
    .setResolveLinks(false)
    .setUuidOption(new ReadReq.Options.UUIDOption().setString(new shared.Empty()));
  if (limit === undefined) options.setSubscription(new ReadReq.Options.SubscriptionOptions());
  else options.setCount(String(limit));
  return options;
};

/** A read of one stream; `from` is included. */
export const streamRead = (
  stream: string,
  from: number | 'end',
  backwards: boolean,
  limit: number,
): streams.ReadReq => {
  const of = new ReadReq.Options.StreamOptions().setStreamIdentifier(identifierOf(stream));
  if (from === 'end') of.setEnd(new shared.Empty());
  else of.setRevision(String(from));
  return new ReadReq().setOptions(optionsOf(limit, backwards).setStream(of).setNoFilter(new shared.Empty()));
};

/** A read of the log from a position, which is included when it is that of an event. */
export const logRead = (after: Position, filter: LogFilter, limit: number): streams.ReadReq =>
  new ReadReq().setOptions(optionsOf(limit, false).setAll(allAfter(after)).setFilter(filter.options));

/** Backwards through the log: what comes before an event, or its last events. */
export const logTail = (before: Position | undefined, filter: LogFilter, limit: number): streams.ReadReq => {
  const from = before === undefined ? allFromEnd() : allBefore(before);
  return new ReadReq().setOptions(optionsOf(limit, true).setAll(from).setFilter(filter.options));
};

/** The last event of the log, whosever it is: the server has it at hand. */
export const logEnd = (): streams.ReadReq =>
  new ReadReq().setOptions(optionsOf(1, true).setAll(allFromEnd()).setNoFilter(new shared.Empty()));

/** A subscription to the log; what comes after a position. */
export const logSubscription = (after: Position, filter: LogFilter): streams.ReadReq =>
  new ReadReq().setOptions(optionsOf(undefined, false).setAll(allAfter(after)).setFilter(filter.options));

/** The messages of an append: what is expected, then one per event. */
export const appendMessages = (
  stream: string,
  events: readonly EncodedEvent[],
  expected: ExpectedRevision,
): streams.AppendReq[] => {
  const options = new AppendReq.Options().setStreamIdentifier(identifierOf(stream));
  if (expected === 'no-stream') options.setNoStream(new shared.Empty());
  else options.setRevision(String(expected));
  const proposed = events.map(({ id, type, data, metadata }) => {
    const message = new AppendReq.ProposedMessage()
      .setId(new shared.UUID().setString(id))
      .setData(bytesOf(data))
      .setCustomMetadata(bytesOf(metadata));
    message.getMetadataMap().set('type', type).set('content-type', 'application/json');
    return new AppendReq().setProposedMessage(message);
  });
  return [new AppendReq().setOptions(options), ...proposed];
};
