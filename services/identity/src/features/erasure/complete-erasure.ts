import { type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import { type Clock, createIdSource } from '@bindery/service-kit';
import { type UserEvent, userAggregate } from '../users/index.ts';
import type { Erasure } from './erasure.ts';

/**
 * Ends an erasure whose request did not come to that: from the event on it happens, whatever happens to the process.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const completeErasureReactor = (deps: () => { readonly erasure: Erasure; readonly clock: Clock }): Reactor => ({
  name: 'complete-erasure',
  aggregates: [userAggregate.name],
  handles: ['UserErased'],
  react: async (event: Recorded<DomainEvent>) => {
    const { erasure, clock } = deps();
    const { userId } = (event as Recorded<Extract<UserEvent, { type: 'UserErased' }>>).data;
    // Its commands change nothing when repeated, and which there are depends on what was left: no derived ids.
    const { eventId } = createIdSource();
    await erasure.finish(userId, { ...reactorMetadata(event, 'complete-erasure', clock), eventId });
  },
});
