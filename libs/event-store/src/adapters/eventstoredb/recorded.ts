import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventMetadata, RecordedEvent } from '../../port.ts';
import { positionOf } from './positions.ts';

/** An event and how much there is of it, for limits of pages. */
export interface SizedEvent {
  readonly event: RecordedEvent;
  /** Bytes of data and metadata. */
  readonly bytes: number;
}

const text = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** Name of a field that earlier releases added to the metadata of what they wrote. */
const FORMER_MARK = '$append';

const withoutMark = (metadata: unknown): unknown => {
  if (typeof metadata === 'object' && metadata !== null && FORMER_MARK in metadata)
    Reflect.deleteProperty(metadata, FORMER_MARK);
  return metadata;
};

/** The event of a message, or nothing when the message is about something else. Data is parsed when somebody asks, once. */
export const eventOf = (message: streams.ReadResp): SizedEvent | undefined => {
  const recorded = message.getEvent()?.getEvent();
  if (recorded === undefined) return undefined;
  const dataBytes = recorded.getData_asU8();
  const metadataBytes = recorded.getCustomMetadata_asU8();
  let data: { readonly value: unknown } | undefined;
  let metadata: { readonly value: unknown } | undefined;
  const event: RecordedEvent = {
    id: recorded.getId()?.getString() ?? '',
    stream: text(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array()),
    revision: Number(recorded.getStreamRevision()),
    position: positionOf(recorded.getCommitPosition()),
    type: recorded.getMetadataMap().get('type') ?? '',
    get data() {
      data ??= { value: JSON.parse(text(dataBytes)) as unknown };
      return data.value;
    },
    get metadata() {
      metadata ??= { value: metadataBytes.length === 0 ? {} : withoutMark(JSON.parse(text(metadataBytes))) };
      return metadata.value as EventMetadata;
    },
  };
  return { event, bytes: dataBytes.length + metadataBytes.length };
};
