import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

const { ReadResp, AppendResp } = streams;
const { Empty, StreamIdentifier, UUID } = shared;

/** An event as a client sent it. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export const identifierOf = (stream: string): shared.StreamIdentifier =>
  new StreamIdentifier().setStreamName(new Uint8Array(Buffer.from(stream, 'utf8')));

/** .NET ticks of 100 ns, as the server counts them. */
const ticks = (): string => `${BigInt(Date.now()) * 10_000n}`;

/** Type of the event that ends a stream for ever. It has no data, and the largest revision that there is. */
export const STREAM_DELETED = '$streamDeleted';
const LAST_REVISION = '9223372036854775807';

/** The message that readers get for an event; it never changes, so it is made once and stored. */
export const eventMessage = (event: ProposedEvent, stream: string, revision: number, position: number): Buffer => {
  const recorded = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new UUID().setString(event.id))
    .setStreamIdentifier(identifierOf(stream))
    .setStreamRevision(event.type === STREAM_DELETED ? LAST_REVISION : String(revision))
    .setPreparePosition(String(position))
    .setCommitPosition(String(position))
    .setCustomMetadata(event.metadata)
    .setData(event.data);
  recorded.getMetadataMap().set('type', event.type).set('content-type', event.contentType).set('created', ticks());
  const resolved = new ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(position));
  return Buffer.from(new ReadResp().setEvent(resolved).serializeBinary());
};

/** Data of a stored message; only system events are looked into. */
export const dataOfMessage = (message: Buffer): string =>
  Buffer.from(ReadResp.deserializeBinary(message).getEvent()?.getEvent()?.getData_asU8() ?? []).toString('utf8');

export const confirmation = (subscriptionId: string): streams.ReadResp =>
  new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId));

export const caughtUp = (): streams.ReadResp => new ReadResp().setCaughtUp(new ReadResp.CaughtUp());

/** Numbers of 64 bits, as text. */
export interface Checkpoint {
  readonly commit: string;
  readonly prepare: string;
}

export const checkpoint = ({ commit, prepare }: Checkpoint): streams.ReadResp =>
  new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare));

export const streamNotFound = (stream: string): streams.ReadResp =>
  new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)));

export const appended = (revision: number, position: number | undefined): streams.AppendResp => {
  const success = new AppendResp.Success().setCurrentRevision(String(revision));
  if (position === undefined) return new AppendResp().setSuccess(success.setNoPosition(new Empty()));
  const at = new AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position));
  return new AppendResp().setSuccess(success.setPosition(at));
};

/** `current` is undefined for a stream that does not exist. */
export const wrongExpectedVersion = (current: number | undefined, expected: string | number): streams.AppendResp => {
  const wrong = new AppendResp.WrongExpectedVersion();
  if (current === undefined) wrong.setCurrentNoStream(new Empty());
  else wrong.setCurrentRevision(String(current));
  if (typeof expected === 'number') wrong.setExpectedRevision(String(expected));
  else if (expected === 'no-stream') wrong.setExpectedNoStream(new Empty());
  else if (expected === 'exists') wrong.setExpectedStreamExists(new Empty());
  else wrong.setExpectedAny(new Empty());
  return new AppendResp().setWrongExpectedVersion(wrong);
};
