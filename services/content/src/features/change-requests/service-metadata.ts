import { createHash } from 'node:crypto';
import { type CommandMetadata, deriveEventId } from '@bindery/event-sourcing';

/**
 * Metadata of commands that the service gives by itself.
 * @param cause names the occasion: the same one makes the same event ids in every process and on every attempt (PITFALLS 9)
 */
export const serviceMetadata = (cause: string, organizationId: string, now: Date): CommandMetadata => {
  let count = 0;
  return {
    correlationId: createHash('sha256').update(cause).digest('hex').slice(0, 32),
    causationId: cause,
    actor: { kind: 'service', id: 'service:content' },
    organizationId,
    now,
    eventId: () => {
      count += 1;
      return deriveEventId(cause, String(count));
    },
  };
};
