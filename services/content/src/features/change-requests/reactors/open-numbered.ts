import { aggregateIdOf, type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import { type SpaceEvent, spaceAggregate } from '../../spaces/index.ts';
import { changeRequestAggregate } from '../aggregate.ts';
import type { MergeDeps } from '../deps.ts';

const name = 'open-numbered-change-requests';

/** A change request that has its number is there: whoever numbered it may have died before it was opened. */
export const openNumbered = (deps: () => MergeDeps): Reactor => ({
  name,
  aggregates: [spaceAggregate.name],
  handles: ['ChangeRequestNumbered'],
  headStart: {
    awaits: ({ data }) => Object(data).changeRequestId,
    settledBy: { aggregates: [changeRequestAggregate.name], types: ['ChangeRequestOpened'] },
    settles: ({ stream }) => aggregateIdOf(stream),
  },
  async react(event: Recorded<DomainEvent>) {
    const fact = event as unknown as SpaceEvent;
    if (fact.type !== 'ChangeRequestNumbered') return;
    const { repository } = deps();
    // The request that numbered it has nearly always opened it too.
    if ((repository.known(fact.data.changeRequestId)?.status ?? 'none') !== 'none') return;
    const metadata = reactorMetadata(event, name, { now: () => new Date(event.metadata.time) });
    await repository.handle(fact.data.changeRequestId, { type: 'OpenChangeRequest', data: fact.data }, metadata);
  },
});
