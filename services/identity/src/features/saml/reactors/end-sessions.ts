import type { DomainEvent, Reactor, Recorded } from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import { forEveryVouched, type LiveSessions, type Sessions } from '../../sessions/index.ts';
import { providerAggregate } from '../decider.ts';
import type { ProviderEvent } from '../events.ts';

export interface EndSessionsDeps {
  readonly sessions: Pick<Sessions, 'end'>;
  readonly live: LiveSessions;
  readonly clock: Clock;
}

/**
 * Ends the sessions that a deleted provider vouched for: nobody says any more whether those people may still get in. One
 * that is being begun meanwhile is ended by who begins it.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const endProviderSessionsReactor = (deps: () => EndSessionsDeps): Reactor => ({
  name: 'end-provider-sessions',
  aggregates: [providerAggregate.name],
  handles: ['SamlProviderDeleted'] satisfies readonly ProviderEvent['type'][],
  // Of providers that were deleted earlier it is not known which sessions were theirs.
  from: 'end',
  async react(event: Recorded<DomainEvent>, signal) {
    const { type, data } = event as Recorded<ProviderEvent>;
    if (type !== 'SamlProviderDeleted') return;
    const { sessions, live, clock } = deps();
    const { organizationId, providerId } = data;
    const context = { requestId: event.metadata.correlationId, now: clock.now(), baseUrl: '' };
    await forEveryVouched(live, organizationId, async (userId) => {
      signal.throwIfAborted();
      await sessions.end(userId, { organizationId, providerId, reason: 'removed' }, context);
    });
  },
});
