import { openapiSpecEvents as catalogue } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';
import { say } from '../../shared/say.ts';
import type { OpenAPISpecEvent } from './events.ts';

/** What others hear about OpenAPI specifications: ids and facts, neither addresses nor documents. */
export const openapiSpecPublicEvents = (event: OpenAPISpecEvent): readonly PublicEvent[] => {
  const { organizationId, specId, slug } = event.data;
  const ids = { organizationId, specId, slug };
  switch (event.type) {
    case 'OpenAPISpecCreated': {
      const { source, createdBy, createdAt } = event.data;
      return say(catalogue.openapiSpecCreated, specId, { ...ids, source: source.kind, createdBy, createdAt });
    }
    case 'OpenAPISpecSourceChanged': {
      const { source, changedBy, changedAt } = event.data;
      return say(catalogue.openapiSpecSourceChanged, specId, { ...ids, source: source.kind, changedBy, changedAt });
    }
    case 'OpenAPISpecVisibilityChanged': {
      const { visibility, changedBy, changedAt } = event.data;
      return say(catalogue.openapiSpecVisibilityChanged, specId, { ...ids, visibility, changedBy, changedAt });
    }
    case 'OpenAPISpecVersionAdded': {
      const { versionId, specVersion, createdAt } = event.data;
      return say(catalogue.openapiSpecVersionAdded, specId, { ...ids, versionId, specVersion, createdAt });
    }
    case 'OpenAPISpecProcessingFailed': {
      const { code, processedAt } = event.data;
      return say(catalogue.openapiSpecProcessingFailed, specId, { ...ids, code, processedAt });
    }
    case 'OpenAPISpecDeleted': {
      const { deletedBy, deletedAt } = event.data;
      return say(catalogue.openapiSpecDeleted, specId, { ...ids, deletedBy, deletedAt });
    }
    default:
      return [];
  }
};
