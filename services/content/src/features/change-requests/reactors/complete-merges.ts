import { aggregateIdOf, type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import { type SpaceEvent, spaceAggregate } from '../../spaces/index.ts';
import { changeRequestAggregate } from '../aggregate.ts';
import type { MergeDeps } from '../deps.ts';

const name = 'complete-merges';

/** What a merge is known by on both sides: its change request and the revision that it made. */
const mergeOf = (changeRequestId: string, revision: string): string => `${changeRequestId} ${revision}`;

/** A merge that the space has committed is done: whoever committed it may have died before the change request said so. */
export const completeMerges = (deps: () => MergeDeps): Reactor => ({
  name,
  aggregates: [spaceAggregate.name],
  handles: ['RevisionCommitted'],
  headStart: {
    awaits: ({ data }) => {
      const { mergedFrom, revisionId } = Object(data);
      return mergedFrom === undefined ? undefined : mergeOf(mergedFrom.changeRequestId, revisionId);
    },
    settledBy: { aggregates: [changeRequestAggregate.name], types: ['ChangeRequestMerged'] },
    settles: ({ stream, data }) => mergeOf(aggregateIdOf(stream), Object(data).revisionMerged),
  },
  async react(event: Recorded<DomainEvent>) {
    const fact = event as unknown as SpaceEvent;
    if (fact.type !== 'RevisionCommitted' || fact.data.mergedFrom === undefined) return;
    const { revisionId, mergedFrom, createdBy, createdAt, spaceId } = fact.data;
    const data = { mergeId: revisionId, revisionMerged: revisionId, mergedBy: createdBy, mergedAt: createdAt };
    const command = { type: 'CompleteMerge', data } as const;
    const metadata = reactorMetadata(event, name, { now: () => new Date(event.metadata.time) });
    const { events } = await deps().repository.handle(mergedFrom.changeRequestId, command, metadata);
    if (events.length > 0) await deps().counts.changed(spaceId);
  },
});
