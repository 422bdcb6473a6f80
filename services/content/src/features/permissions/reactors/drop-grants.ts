import { type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import type { CollectionEvent } from '../../collections/index.ts';
import type { SpaceEvent } from '../../spaces/index.ts';
import type { GrantsRepository } from '../deps.ts';

/** Streams that grants depend on. */
export interface DropGrantsDeps {
  readonly grantsRepository: GrantsRepository;
  readonly clock: Clock;
}

type Ended = SpaceEvent | CollectionEvent;

/**
 * Takes grants away that lost their meaning: on content that is gone for good, or that another organization has now. They do
 * not count from the moment of that event; this keeps them from lying around.
 */
export const dropGrantsReactor = (deps: () => DropGrantsDeps, aggregates: readonly string[]): Reactor<Ended> => {
  const drop = async (
    event: Recorded<Ended>,
    resourceIds: readonly string[],
    about: { readonly organizationId: string; readonly reason: 'transferred' | 'content-deleted'; readonly at: string },
  ): Promise<void> => {
    const { grantsRepository, clock } = deps();
    const { organizationId, reason, at } = about;
    for (const resourceId of resourceIds)
      await grantsRepository.handle(
        resourceId,
        {
          type: 'DropGrants',
          data: { resourceId, organizationId, before: at, reason, by: event.metadata.actor.id, at },
        },
        reactorMetadata(event, 'drop-grants', clock, resourceId),
      );
  };
  return {
    name: 'drop-grants',
    aggregates,
    handles: ['SpacePurged', 'SpaceTransferred', 'CollectionDeleted', 'CollectionsSent'],
    async react(event) {
      switch (event.type) {
        case 'SpacePurged': {
          const { spaceId, organizationId, purgedAt } = event.data;
          return drop(event, [spaceId], { organizationId, reason: 'content-deleted', at: purgedAt });
        }
        case 'SpaceTransferred': {
          const { spaceId, from, transferredAt } = event.data;
          return drop(event, [spaceId], { organizationId: from, reason: 'transferred', at: transferredAt });
        }
        case 'CollectionDeleted': {
          const { collections, organizationId, deletedAt } = event.data;
          const ids = collections.map(({ collectionId }) => collectionId);
          return drop(event, ids, { organizationId, reason: 'content-deleted', at: deletedAt });
        }
        case 'CollectionsSent': {
          const { collectionIds, organizationId, sentAt } = event.data;
          return drop(event, collectionIds, { organizationId, reason: 'transferred', at: sentAt });
        }
        default:
      }
    },
  };
};
