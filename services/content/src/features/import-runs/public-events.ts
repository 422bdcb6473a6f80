import { importRunEvents } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { ImportRunEvent } from './events.ts';

/** What of imports others hear about: ids and facts, no addresses and no names. */
export const importRunPublicEvents = (event: ImportRunEvent): readonly PublicEvent[] => {
  const { importRunId, organizationId, spaceId } = event.data;
  const ids = { importRunId, organizationId, spaceId };
  switch (event.type) {
    case 'ImportRunRequested': {
      const { changeRequestId, source, requestedBy: startedBy, requestedAt: startedAt } = event.data;
      const target = changeRequestId === undefined ? {} : { changeRequestId };
      const facts = { ...ids, ...target, source: source.type, startedBy, startedAt };
      return say(importRunEvents.importRunStarted, importRunId, facts);
    }
    case 'ImportRunCompleted': {
      const { changeRequestId, revisionId, merged, pages, failed, completedAt } = event.data;
      const count = pages.filter(({ type }) => type === 'page').length;
      const facts = { ...ids, changeRequestId, revisionId, merged, pages: count, failed, completedAt };
      return say(importRunEvents.importRunCompleted, importRunId, facts);
    }
    case 'ImportRunFailed': {
      const { code, failedAt } = event.data;
      return say(importRunEvents.importRunFailed, importRunId, { ...ids, code, failedAt });
    }
    case 'ImportRunCancelled': {
      const { cancelledBy, cancelledAt } = event.data;
      return say(importRunEvents.importRunCancelled, importRunId, { ...ids, cancelledBy, cancelledAt });
    }
    default:
      return [];
  }
};
