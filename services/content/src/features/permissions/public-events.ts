import { contentAccessEvents } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { GrantEvent } from './events.ts';

const { accessGranted, accessRevoked } = contentAccessEvents;

/** What others hear about grants. */
export const grantPublicEvents = (event: GrantEvent): readonly PublicEvent[] => {
  const { organizationId, resource, resourceId, kind: subject, subjectId } = event.data;
  const about = { organizationId, resource, resourceId, subject, subjectId };
  if (event.type === 'AccessGranted') {
    const { level, previousLevel, grantedBy, grantedAt } = event.data;
    return say(accessGranted, resourceId, { ...about, level, previousLevel, grantedBy, grantedAt });
  }
  const { previousLevel, reason, revokedAt } = event.data;
  return say(accessRevoked, resourceId, { ...about, previousLevel, reason, revokedAt });
};
