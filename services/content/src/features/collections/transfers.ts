import type { CommandMetadata } from '@bindery/event-sourcing';
import type { CollectionsRepository } from './deps.ts';
import type { CollectionFacts } from './events.ts';
import { type Cause, type StrayDeps, transferSpacesIn } from './stray.ts';

export interface TransferDeps extends StrayDeps {
  readonly collectionsRepository: CollectionsRepository;
}

/** A transfer that was started. */
export interface StartedTransfer {
  readonly transferId: string;
  readonly from: string;
  readonly to: string;
  readonly collections: readonly CollectionFacts[];
}

/**
 * Carries a transfer through: the other organization gets the collections, the spaces follow one by one, then they are gone
 * here. At every moment each space is in one organization, in a collection that is there too. May run twice, and beside
 * itself.
 */
export const carryThrough = async (deps: TransferDeps, transfer: StartedTransfer, cause: Cause): Promise<void> => {
  const { transferId, from, to, collections } = transfer;
  const metadata = (step: string): CommandMetadata => cause.metadata(`${transferId}/${step}`);
  const { by, at } = cause;
  await deps.collectionsRepository.handle(
    to,
    {
      type: 'ReceiveCollections',
      data: { organizationId: to, transferId, from, collections, receivedBy: by, receivedAt: at },
    },
    metadata('receive'),
  );
  const ids = collections.map(({ collectionId }) => collectionId);
  await transferSpacesIn(deps, { from, to }, ids, cause);
  await deps.collectionsRepository.handle(
    from,
    { type: 'FinishCollectionTransfer', data: { organizationId: from, transferId, sentBy: by, sentAt: at } },
    metadata('finish'),
  );
  // What came in while they were leaving.
  await transferSpacesIn(deps, { from, to }, ids, cause);
};
