import type { RecordedEvent } from '@bindery/event-store';
import type { CloudEvent } from '@bindery/message-bus';
import type { PublicEvent } from '../service-runtime.ts';

/** Digits of a position, so that texts compare like the numbers (positions are safe integers). */
const DIGITS = 16;

/** Type of the events in a dead-letter topic; `data` is `{reason, topic, event}`. */
export const DEAD_LETTER = 'bindery.dead-letter.v1';

export const sequenceOf = (position: number): string => String(position).padStart(DIGITS, '0');

/** Position in the log of the source that an event's `sequence` names, if it has one. */
export const positionOf = (event: CloudEvent): number | undefined =>
  event.sequence !== undefined && /^\d{1,16}$/.test(event.sequence) ? Number(event.sequence) : undefined;

const schemaOf = (type: string): string => `/asyncapi.json#/components/schemas/${type}`;

/** Puts the CloudEvents envelope around the `index`-th public event of a domain event. */
export const envelope = (service: string, cause: RecordedEvent, event: PublicEvent, index: number): CloudEvent => {
  const { metadata } = cause;
  return {
    specversion: '1.0',
    id: index === 0 ? cause.id : `${cause.id}.${index + 1}`,
    source: `/services/${service}`,
    type: event.type,
    subject: event.subject,
    time: metadata.time,
    datacontenttype: 'application/json',
    dataschema: schemaOf(event.type),
    data: event.data,
    ...(metadata.organizationId === undefined ? {} : { organizationid: metadata.organizationId }),
    ...(metadata.traceparent === undefined ? {} : { traceparent: metadata.traceparent }),
    correlationid: metadata.correlationId,
    sequence: sequenceOf(cause.position),
  };
};

/** What goes to the dead-letter topic in place of a public event that cannot be published. */
export const deadLetter = (
  service: string,
  topic: string,
  cause: RecordedEvent,
  event: CloudEvent | undefined,
  reason: string,
): CloudEvent => ({
  specversion: '1.0',
  id: event?.id ?? cause.id,
  source: `/services/${service}`,
  type: DEAD_LETTER,
  subject: event?.subject ?? cause.stream,
  time: cause.metadata.time,
  datacontenttype: 'application/json',
  dataschema: schemaOf(DEAD_LETTER),
  data: { reason, topic, cause: { id: cause.id, type: cause.type, stream: cause.stream }, event: event ?? null },
  correlationid: cause.metadata.correlationId,
  sequence: sequenceOf(cause.position),
});
