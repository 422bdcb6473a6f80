import { type CommandMetadata, deriveEventId, type Repository } from '@bindery/event-sourcing';
import { isProblem } from '@bindery/service-kit';
import type { KeyStore } from '../../shared/key-store.ts';
import type { PersonalData, PersonalDataSealer } from '../../shared/personal-data.ts';
import { withKnownEventId } from '../../shared/ports.ts';
import { normalizeEmail } from '../../shared/text.ts';
import type { Vault } from '../../shared/vault.ts';
import {
  type EmailCommand,
  type EmailEvent,
  type EmailReserved,
  type EmailState,
  emailAggregate,
  emailTaken,
} from '../emails/index.ts';
import { type UserCommand, userAggregate } from './decider.ts';
import type { UserEvent } from './events.ts';
import type { UserState } from './state.ts';

export interface RegistrationDeps {
  readonly users: Repository<UserState, UserCommand, UserEvent>;
  readonly emails: Repository<EmailState, EmailCommand, EmailEvent>;
  readonly keys: KeyStore;
  readonly sealer: PersonalDataSealer;
  readonly vault: Vault;
}

/** Who is to be registered. The email has the form of one. */
export interface NewUser {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly photoURL?: string;
}

/**
 * Registration over two streams: the email is reserved first, in an event that carries all that the user needs, then the
 * user is registered. A process that dies in between leaves a reservation which the reactor completes
 * (`reactors/complete-registration.ts`); the id of the second event is the same in both, so it is written once.
 */
export interface Registration {
  /** @throws Problem 409 `user.email_taken` */
  register(user: NewUser, metadata: CommandMetadata): Promise<void>;
  /** Whose email it is, if anybody's. */
  holderOf(email: string): Promise<string | undefined>;
  /** The second half, for a reservation that exists. */
  complete(reservation: EmailReserved['data'], personal: PersonalData, metadata: CommandMetadata): Promise<void>;
}

export const createRegistration = (deps: RegistrationDeps): Registration => {
  const { users, emails, keys, sealer, vault } = deps;

  const complete: Registration['complete'] = async ({ userId, emailDigest, reservedAt }, personal, metadata) => {
    const seed = deriveEventId(userId, 'registration');
    const bound = withKnownEventId(
      { ...metadata, eventId: () => seed },
      { aggregate: userAggregate, id: userId, type: 'RegisterUser' },
    );
    const sealed = await sealer.seal(userId, bound.eventId, personal);
    const data = { userId, emailDigest, personal: sealed, registeredAt: reservedAt };
    await users.handle(userId, { type: 'RegisterUser', data }, bound.metadata);
  };

  return {
    complete,
    async holderOf(email) {
      const { state } = await emails.load(vault.emailDigest(normalizeEmail(email)));
      return state.status === 'reserved' ? state.userId : undefined;
    },
    async register({ userId, email, displayName, photoURL }, metadata) {
      const emailDigest = vault.emailDigest(normalizeEmail(email));
      const holder = await emails.load(emailDigest);
      // Without this look, every refusal would make a key and destroy it again; the decider is what decides.
      if (holder.state.status === 'reserved' && holder.state.userId !== userId) throw emailTaken();
      const personal = { email: email.trim(), displayName, ...(photoURL === undefined ? {} : { photoURL }) };
      const bound = withKnownEventId(metadata, { aggregate: emailAggregate, id: emailDigest, type: 'ReserveEmail' });
      const sealed = await sealer.seal(userId, bound.eventId, personal);
      const data = { emailDigest, userId, personal: sealed, reservedAt: metadata.now.toISOString() };
      try {
        await emails.handle(emailDigest, { type: 'ReserveEmail', data }, bound.metadata);
      } catch (error) {
        // Lost the race: nobody will ever use this key. (Any other failure may have written the event: the key stays.)
        if (isProblem(error) && error.code === 'user.email_taken') await keys.destroy(userId);
        throw error;
      }
      await complete(data, personal, metadata);
    },
  };
};
