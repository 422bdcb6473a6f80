import { hash } from 'node:crypto';
import type { Clock, OperationContext } from '@bindery/service-kit';
import type { DomainEvent, Recorded } from './decider.ts';
import type { CommandMetadata } from './repository.ts';

/** The part of a UUID that is its time, in those that have one. */
const TIME = /^[0-9a-f]{8}-[0-9a-f]{4}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$)/;

/**
 * A UUID (version 8, RFC 9562) that is always the same for the same cause and name; from SHA-256. It begins like the UUID
 * that it comes from: where those are in the order of time, so are these, and the store's index stays local.
 */
export const deriveEventId = (causeEventId: string, name: string): string => {
  const hex = hash('sha256', `${causeEventId}\n${name}`, 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  const time = TIME.exec(causeEventId)?.[0] ?? `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
  return `${time}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
};

/**
 * Id of the n-th event of a command, which is thus known before the command is handled: what is sealed into an event can
 * be bound to it. The kind of command is part of it: a request that leaves out a step when it is repeated must not pass
 * off one command's events as another's.
 * @param seed what `metadata.eventId()` gave for the command
 */
export const commandEventId = (seed: string, stream: string, commandType: string, index = 0): string =>
  deriveEventId(seed, `${stream}/${commandType}/${index}`);

/** Metadata of the events that a request causes. */
export const commandMetadata = (context: OperationContext, organizationId?: string): CommandMetadata => ({
  correlationId: context.requestId,
  causationId: context.requestId,
  actor: { kind: context.principal.kind, id: context.principal.id },
  ...(context.principal.kind === 'user' ? { tokenId: context.principal.tokenId } : {}),
  ...(context.principal.origin === undefined ? {} : { origin: context.principal.origin }),
  ...(organizationId === undefined ? {} : { organizationId }),
  ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
  now: context.now,
  eventId: () => context.ids.eventId(),
});

/**
 * Metadata of the events that a reactor's commands cause: correlated with the causing event, and with ids derived from
 * it, so that reacting twice to one event writes nothing twice.
 *
 * A reactor that may issue several commands for one event, of which some are conditional, gives each a `step` of its own.
 */
export const reactorMetadata = (
  event: Recorded<DomainEvent>,
  reactorName: string,
  clock: Clock,
  step = '',
): CommandMetadata => {
  let count = 0;
  return {
    correlationId: event.metadata.correlationId,
    causationId: event.id,
    actor: { kind: 'service', id: `service:${event.stream.slice(0, event.stream.indexOf('.'))}` },
    ...(event.metadata.organizationId === undefined ? {} : { organizationId: event.metadata.organizationId }),
    ...(event.metadata.traceparent === undefined ? {} : { traceparent: event.metadata.traceparent }),
    now: clock.now(),
    eventId: () => {
      count += 1;
      return deriveEventId(event.id, `${reactorName}/${step}/${count}`);
    },
  };
};
