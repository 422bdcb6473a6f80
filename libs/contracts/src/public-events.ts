import { contentEvents } from './events/content.ts';
import { contentAccessEvents } from './events/content-access.ts';
import { contentTransferEvents } from './events/content-transfers.ts';
import { identityEvents } from './events/identity.ts';
import { importRunEvents } from './events/import-runs.ts';
import { inviteEvents } from './events/invites.ts';
import { openapiSpecEvents } from './events/openapi-specs.ts';
import { reviewEvents } from './events/reviews.ts';
import { teamEvents } from './events/teams.ts';
import type { PublicEventDefinition, PublicEventGroup } from './kit/public-event.ts';

// One import line per file of `events/`, and one line in the list below.

/** The groups of the catalogue, one per file of `events/`. */
const groups: readonly PublicEventGroup[] = [
  contentEvents,
  contentAccessEvents,
  contentTransferEvents,
  importRunEvents,
  openapiSpecEvents,
  reviewEvents,
  identityEvents,
  teamEvents,
  inviteEvents,
];

/**
 * Every public event by type: the source of the AsyncAPI document and of the check before an event leaves a service.
 * @throws Error at load when two files declare the same type
 */
export const publicEvents: ReadonlyMap<string, PublicEventDefinition> = index(groups);

function index(all: readonly PublicEventGroup[]): ReadonlyMap<string, PublicEventDefinition> {
  const byType = new Map<string, PublicEventDefinition>();
  for (const definition of all.flatMap((group): readonly PublicEventDefinition[] => Object.values(group))) {
    if (byType.has(definition.type)) throw new Error(`contract: public event ${definition.type} is declared twice`);
    byType.set(definition.type, definition);
  }
  return byType;
}
