import {
  type DomainEvent,
  type Reactor,
  type Recorded,
  type Repository,
  reactorMetadata,
} from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../../shared/personal-data.ts';
import { type EmailReserved, emailAggregateName } from '../../emails/index.ts';
import type { UserCommand } from '../decider.ts';
import type { UserEvent } from '../events.ts';
import type { Registration } from '../registration.ts';
import type { UserState } from '../state.ts';

export interface CompleteRegistrationDeps {
  readonly users: Repository<UserState, UserCommand, UserEvent>;
  readonly registration: Registration;
  readonly sealer: PersonalDataSealer;
  readonly clock: Clock;
}

/**
 * Registers the user of a reserved email when the request that reserved it did not come to that.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const completeRegistrationReactor = (deps: () => CompleteRegistrationDeps): Reactor => ({
  name: 'complete-registration',
  aggregates: [emailAggregateName],
  handles: ['EmailReserved'],
  react: async (event: Recorded<DomainEvent>) => {
    const { users, registration, sealer, clock } = deps();
    const { data } = event as Recorded<EmailReserved>;
    const { state } = await users.load(data.userId);
    if (state.status !== 'none') return;
    const personal = await sealer.open(data.userId, event.id, data.personal);
    // Without the key there is nobody to register.
    if (personal === undefined) return;
    await registration.complete(data, personal, reactorMetadata(event, 'complete-registration', clock));
  },
});
