import { contentEvents, type EventDataOf, type PublicEventDefinition } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import type { GitSyncEvent } from './events.ts';

const say = <D extends PublicEventDefinition>(
  definition: D,
  subject: string,
  data: EventDataOf<D> & object,
): readonly PublicEvent[] => [{ type: definition.type, subject, data: data as PublicEvent['data'] }];

/** What of git syncs others hear about: ids and facts, no addresses and no words. */
export const gitPublicEvents = (event: GitSyncEvent): readonly PublicEvent[] => {
  const { spaceId } = event.data;
  switch (event.type) {
    case 'GitSyncStarted': {
      const { organizationId, operationId, direction, startedBy, startedAt } = event.data;
      const facts = { spaceId, organizationId, operationId, direction, startedBy, startedAt };
      return say(contentEvents.gitSyncStarted, spaceId, facts);
    }
    case 'GitSyncCompleted': {
      const { organizationId, operationId, direction, revisionId, commit, changed, standalone, endedAt } = event.data;
      const facts = { spaceId, organizationId, operationId, direction, revisionId, changed, standalone, endedAt };
      return say(contentEvents.gitSyncCompleted, spaceId, { ...facts, commitId: commit.oid });
    }
    case 'GitSyncFailed': {
      const { organizationId, operationId, direction, state, reason, endedAt } = event.data;
      const facts = { spaceId, organizationId, operationId, direction, state, reason, endedAt };
      return say(contentEvents.gitSyncFailed, spaceId, facts);
    }
    default:
      return [];
  }
};
