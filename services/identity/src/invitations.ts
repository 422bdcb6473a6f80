import type { Projection, Reactor, ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { Mailer } from '@bindery/mail';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import {
  acceptingSessions,
  createInvitesFeature,
  destroyInvitationKeysReactor,
  invitationsAggregate,
  invitationsProjection,
  inviteLinkAggregate,
  inviteLinksProjection,
  mailInvitationsReactor,
  openInvitations,
  openInviteLinks,
} from './features/invites/index.ts';
import type { LiveOrganizations, OrganizationRepository } from './features/organizations/index.ts';
import type { Sessions } from './features/sessions/index.ts';
import type { LiveUsers, Registration } from './features/users/index.ts';
import type { KeyStore } from './shared/key-store.ts';
import type { PersonalDataSealer } from './shared/personal-data.ts';
import type { ForgetPrincipal, HasActiveProvider } from './shared/ports.ts';
import type { Vault } from './shared/vault.ts';

/** Read models of invites. */
export const invitationProjections: readonly Projection[] = [inviteLinksProjection, invitationsProjection];

/** What sending invitations needs of the service. */
export interface InvitationMailParts {
  readonly runtime: ServiceRuntime;
  readonly ports: ServicePorts;
  readonly sealer: PersonalDataSealer;
  readonly organizations: LiveOrganizations;
  readonly users: LiveUsers;
  readonly mailer: Mailer | undefined;
  /** Address of the instance, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** Sends invitations, and erases the addresses of those that have ended. */
export const invitationReactors = (keys: KeyStore, parts: () => InvitationMailParts): readonly Reactor[] => [
  destroyInvitationKeysReactor(keys),
  mailInvitationsReactor(() => {
    const { runtime, ports, ...rest } = parts();
    return { ...rest, invitations: runtime.repository(invitationsAggregate), logger: ports.telemetry.logger };
  }),
];

/** What invites need of the service. */
export interface InvitationParts {
  readonly runtime: ServiceRuntime;
  readonly ports: ServicePorts;
  readonly organizations: OrganizationRepository;
  readonly registration: Registration;
  readonly users: LiveUsers;
  readonly services: ServiceClient;
  readonly sealer: PersonalDataSealer;
  readonly keys: KeyStore;
  readonly vault: Vault;
  readonly cursors: CursorCodec;
  readonly forget: ForgetPrincipal;
  readonly userExists: (userId: string) => Promise<boolean>;
  readonly hasActiveProvider: HasActiveProvider;
}

/** Links and invitations by email, and sessions that accept what waits for whoever signs in. */
export const createInvitations = (parts: InvitationParts) => {
  const { runtime, ports, registration, users } = parts;
  const { handlers, acceptPending } = createInvitesFeature({
    ...parts,
    links: runtime.repository(inviteLinkAggregate),
    invitations: runtime.repository(invitationsAggregate),
    liveLinks: () => openInviteLinks(runtime.live),
    liveInvitations: () => openInvitations(runtime.live),
    userOfEmail: (email) => registration.holderOf(email),
  });
  const emailOf = async (userId: string) => (await users().get(userId))?.document.email;
  const accepting = (sessions: Sessions): Sessions =>
    acceptingSessions(sessions, { acceptPending, emailOf, logger: ports.telemetry.logger });
  return { handlers, acceptPending, accepting };
};
