import {
  type auditOperations,
  type erasureOperations,
  type identityAdminOperations,
  type identityAuditInternalOperations,
  type identityInternalOperations,
  type memberOperations,
  type memberRelationOperations,
  type organizationOperations,
  type samlOperations,
  type sessionOperations,
  type signInAdminOperations,
  type signInInternalOperations,
  type userOperations,
  type userTokenOperations,
  validatePublicEvent,
} from '@bindery/contracts';
import { createServiceRuntime, type ServicePorts } from '@bindery/event-sourcing';
import type { Mailer } from '@bindery/mail';
import {
  createCursorCodec,
  eraseHandlers,
  type HandlersFor,
  type Principal,
  type Service,
  type ServiceClient,
} from '@bindery/service-kit';
import { forAdministrators } from './administration.ts';
import { type BootstrapOptions, type Bootstrapped, createBootstrap } from './bootstrap.ts';
import { agentInstructionsProjection } from './features/agent-instructions/index.ts';
import { createAuditFeature, createOrigins, identityAuditProjection, type RawRoute } from './features/audit/index.ts';
import { denialAggregate, reportDenialsRoute } from './features/denials/index.ts';
import { emailAggregate } from './features/emails/index.ts';
import {
  completeErasureReactor,
  createErasure,
  createErasureHandlers,
  createOwnErasureHandlers,
  keepErasedOutReactor,
} from './features/erasure/index.ts';
import { instanceAggregate, instanceProjection, isAdministrator } from './features/instance/index.ts';
import { memberRelationRoutes } from './features/member-relations/index.ts';
import {
  createLastSeen,
  createMembersFeature,
  directoryName,
  directoryProjection,
  forEveryMember,
  membersProjection,
  openDirectory,
  openMembers,
  sharesOrganization,
} from './features/members/index.ts';
import { openOrganizations, organizationAggregate, organizationsProjection } from './features/organizations/index.ts';
import type { SignInLinks } from './features/passwords/index.ts';
import {
  createSamlFeature,
  type SamlRoute,
  type SamlSettings,
  samlProvidersProjection,
} from './features/saml/index.ts';
import { createSessionsFeature, sessionsAggregate, sessionsProjection } from './features/sessions/index.ts';
import {
  createTeamsFeature,
  leaveTeamsReactor,
  liveTeams,
  organizationsOfOwner,
  placesInOrganization,
  spacesOfTeams,
  teamAggregate,
  teamMembersProjection,
  teamsById,
  teamsProjection,
} from './features/teams/index.ts';
import {
  createPrincipals,
  createTokenUsage,
  createUserTokenRoute,
  credentialsAggregate,
  deleteUserTokenRoute,
  listUserTokensRoute,
  openTokens,
  resolveTokenRoute,
  sessionUsageCollection,
  tokensProjection,
} from './features/tokens/index.ts';
import {
  completeRegistrationReactor,
  createRegistration,
  createUserRoute,
  getAuthenticatedUserRoute,
  getUserByIdRoute,
  listUsersRoute,
  loadUsersRoute,
  openUsers,
  updateUserRoute,
  userAggregate,
  usersProjection,
} from './features/users/index.ts';
import { createInvitations, invitationProjections, invitationReactors } from './invitations.ts';
import { loadOwner, loadPrincipal } from './load-principal.ts';
import { createOrganizationHandlers } from './organization-handlers.ts';
import { publicMapping } from './public-mapping.ts';
import { createEpochs } from './shared/epochs.ts';
import type { KeyStore } from './shared/key-store.ts';
import { createSealer } from './shared/personal-data.ts';
import { tolerant } from './shared/tolerant-cache.ts';
import type { Vault } from './shared/vault.ts';
import { createSignIn, signInReactor } from './sign-in.ts';
import { defaultSignIn, type SignInConfig } from './sign-in-settings.ts';

export interface IdentityOptions {
  readonly ports: ServicePorts;
  /** Keys of users, in a store apart from the events. */
  readonly keys: KeyStore;
  /** What is derived from the master key. */
  readonly vault: Vault;
  /** Operations of the other services. */
  readonly services: ServiceClient;
  /** Absent: no mail can be sent. */
  readonly mailer?: Mailer;
  /** Address of the instance in mails, without a trailing slash. */
  readonly publicUrl?: () => string;
  /** How people sign in. */
  readonly signIn?: SignInConfig;
  /** Of signing in through identity providers of organizations. */
  readonly saml?: SamlSettings;
}

/** The identity service, and what its composition root calls at every start. */
export type IdentityService = Service & {
  /** Routes outside the JSON contract that the gateway mounts. */
  readonly rawRoutes: readonly (RawRoute | SamlRoute)[];
  /** Call it between `start` and the first request. Idempotent, also when killed anywhere. */
  bootstrap(options: BootstrapOptions): Promise<Bootstrapped>;
  /** One-time links, for the composition root: how the first administrator gets in. */
  readonly signInLinks: SignInLinks;
  /** Waits for writes that no request waits for: the last use of tokens. */
  settled(): Promise<void>;
};

type Operations = typeof userOperations &
  typeof organizationOperations &
  typeof memberOperations &
  typeof memberRelationOperations &
  typeof identityInternalOperations &
  typeof sessionOperations &
  typeof signInInternalOperations &
  typeof signInAdminOperations &
  typeof userTokenOperations &
  typeof samlOperations &
  typeof auditOperations &
  typeof erasureOperations &
  typeof identityAuditInternalOperations &
  typeof identityAdminOperations;

type AdminOperation =
  | keyof typeof identityAdminOperations
  | keyof typeof signInAdminOperations
  | 'listInstanceAuditEvents'
  | 'deleteUser';

/** Counter that the gateway keys embedded users by. */
const embeddedUsersEpoch = 'embed-epoch:user';
const day = 86_400_000;
/** Longest wait for the directory of members. */
const directoryWaitMs = 3000;
/** Longest wait for read models that are to let go of an erased person. */
const scrubWaitMs = 10_000;

/** Users, tokens, organizations and members. Opens its collections; `start` does the rest. */
export const createIdentityService = async (options: IdentityOptions): Promise<IdentityService> => {
  const { ports, keys, vault, services, mailer, signIn: config = defaultSignIn, publicUrl = () => '' } = options;
  const { clock, readStore } = ports;
  const { logger } = ports.telemetry;
  const cache = tolerant(ports.cache, logger);
  const sealer = createSealer(keys);
  const cursors = createCursorCodec(vault.secret('identity'));
  const usage = await createTokenUsage(readStore, logger);
  const sessionUsage = await createTokenUsage(readStore, logger, sessionUsageCollection);
  const lastSeen = await createLastSeen(readStore);

  const runtime = await createServiceRuntime({
    service: 'identity',
    ports,
    projections: [
      usersProjection(sealer),
      tokensProjection,
      organizationsProjection,
      membersProjection,
      directoryProjection(sealer),
      agentInstructionsProjection,
      instanceProjection,
      teamsProjection,
      teamMembersProjection,
      ...invitationProjections,
      sessionsProjection,
      samlProvidersProjection,
      identityAuditProjection,
    ],
    reactors: [
      completeRegistrationReactor(() => ({ users: userRepository, registration, sealer, clock })),
      signInReactor(() => ({ mailer, vault, users, clock })),
      completeErasureReactor(() => ({ erasure, clock })),
      keepErasedOutReactor(() => ({ users: userRepository, organizations: organizationRepository, clock })),
      leaveTeamsReactor(() => ({ ...teamDeps, clock })),
      ...invitationReactors(keys, () => ({ runtime, ports, sealer, organizations, users, mailer, publicUrl })),
    ],
    publicMapping,
    validatePublic: validatePublicEvent,
  });
  const userRepository = runtime.repository(userAggregate);
  const emails = runtime.repository(emailAggregate);
  const credentials = runtime.repository(credentialsAggregate);
  const organizationRepository = runtime.repository(organizationAggregate);
  const instance = runtime.repository(instanceAggregate);

  const users = () => openUsers(runtime.live);
  const tokens = () => openTokens(runtime.live);
  const organizations = () => openOrganizations(runtime.live);
  const members = () => openMembers(runtime.live);
  const shares = (principal: Principal, userId: string) => sharesOrganization(members, principal, userId);
  const userExists = async (userId: string) => (await userRepository.load(userId)).state.status === 'active';
  const epochs = createEpochs(cache, 'identity:epoch:');
  const profileChanged = async (): Promise<void> => {
    await cache.increment(embeddedUsersEpoch, { ttlMs: day });
  };
  const registration = createRegistration({ users: userRepository, emails, keys, sealer, vault });
  const liveTeamsNow = liveTeams(runtime.live);
  const principalOf = loadOwner({ members, organizations, teams: liveTeamsNow, users, live: runtime.live });
  const load = loadPrincipal(tokens, principalOf);
  const principals = createPrincipals({ kind: 'token', cache, epochs, usage, load });
  const forget = principals.forget;
  const sessionsRepository = runtime.repository(sessionsAggregate);
  const { live } = runtime;
  const origins = createOrigins(sealer);
  const remembering = { live, cache, epochs, sealer, cursors, forget, principalOf };
  const lifetimes = config.sessions;
  const signedIn = createSessionsFeature({
    ...remembering,
    repository: sessionsRepository,
    usage: sessionUsage,
    sealOrigin: origins.seal,
    lifetimes,
  });
  const teamDeps = {
    repository: runtime.repository(teamAggregate),
    live: liveTeamsNow,
    members,
    cursors,
    forget,
  };
  const userOfEmail = (email: string) => registration.holderOf(email);
  const teams = createTeamsFeature({
    ...{ ...teamDeps, userOfEmail, spacesOfTeams: spacesOfTeams(services) },
    presentMembers: (...given) => membersFeature.present(...given),
  });
  const bootstrap = createBootstrap({
    instance,
    organizations: organizationRepository,
    credentials,
    registration,
    userExists,
    forget,
    vault,
    clock,
  });

  const audit = createAuditFeature({ runtime, ports, services, users, members, sealer, cursors, vault });
  const getUserDeps = { users, sharesOrganization: shares };
  const tokenDeps = { credentials, tokens, usage, cursors, userExists, forget };
  const invitations = createInvitations({
    ...{ runtime, ports, registration, users, services, sealer, keys, vault, cursors, forget, userExists },
    organizations: organizationRepository,
    hasActiveProvider: (organizationId) => saml.hasActiveProvider(organizationId),
  });
  const saml = createSamlFeature({
    ...{ runtime, cache: ports.cache, logger, cursors, vault, registration, userExists, forget, members },
    ...{ organizations: organizationRepository, sessions: signedIn.sessions, teams: teamDeps },
    settingsOf: organizations,
    settings: options.saml ?? {},
  });
  const signIn = createSignIn({
    ...{ runtime, ports, mailer, vault, sealer, registration, users, config, tokens: tokenDeps, isActive: userExists },
    sessions: saml.recordingBypasses(invitations.accepting(signedIn.sessions)),
    holderOf: async (digest) => {
      const { state } = await emails.load(digest);
      return state.status === 'reserved' ? state.userId : undefined;
    },
  });
  const { hasActiveProvider } = saml;
  const teamsOfMembers = (organizationId: string, userIds: readonly string[]) =>
    placesInOrganization(liveTeamsNow, organizationId, userIds);
  const membersFeature = createMembersFeature({
    ...{ organizations: organizationRepository, members, lastSeen, cursors, services, forget, userExists },
    directory: () => openDirectory(live),
    directoryReady: async () =>
      runtime.waitFor(directoryName, await ports.eventStore.head(['identity.']), directoryWaitMs),
    hasActiveProvider,
    teamsOfMembers,
  });
  const organizationHandlers = createOrganizationHandlers({
    ...{ runtime, repository: organizationRepository, organizations, cursors, forget, hasActiveProvider },
    verifiedEmail: async (userId) => (await users().get(userId))?.document.email,
    teamsOwnedBy: (userId) => organizationsOfOwner(liveTeamsNow, userId),
    forgetMembers: (organizationId) => forEveryMember(members, organizationId, forget),
  });
  const erasure = createErasure({
    ...{ users: userRepository, emails, organizations: organizationRepository, credentials, members, keys, forget },
    isInstanceAdministrator: (userId) => isAdministrator(live, userId),
    endSessions: async (userId, { correlationId, now }) =>
      void (await signedIn.sessions.end(userId, { reason: 'removed' }, { requestId: correlationId, now, baseUrl: '' })),
    forgetSeen: (organizationId, userId) => lastSeen.forget(organizationId, userId),
    async forgetPerson(userId) {
      origins.forget(userId);
      await profileChanged();
    },
    async scrub() {
      const head = await ports.eventStore.head(['identity.']);
      for (const name of [directoryName, identityAuditProjection.name]) await runtime.waitFor(name, head, scrubWaitMs);
      await readStore.scrub();
    },
  });
  const open: HandlersFor<Omit<Operations, AdminOperation>> = {
    getAuthenticatedUser: getAuthenticatedUserRoute({ users }),
    getUserById: getUserByIdRoute(getUserDeps),
    updateUserById: updateUserRoute({ ...getUserDeps, repository: userRepository, sealer, profileChanged }),
    ...organizationHandlers,
    ...membersFeature.handlers,
    ...memberRelationRoutes({
      ...{ members, services, cursors, teamsOfMembers, presentTeams: teams.present },
      teamsById: (ids) => teamsById(liveTeamsNow, ids),
    }),
    resolveToken: resolveTokenRoute({ principals, sealOrigin: origins.seal }),
    loadUsers: loadUsersRoute({ users }),
    ...signedIn.handlers,
    ...signIn.handlers,
    ...saml.handlers,
    ...audit.handlers,
    ...createOwnErasureHandlers({ erasure, users }),
    reportDenials: reportDenialsRoute({ denials: runtime.repository(denialAggregate) }),
  };
  const administration: HandlersFor<Pick<Operations, AdminOperation>> = {
    ...audit.administration,
    ...createErasureHandlers({ erasure, users }),
    ...signIn.administration,
    createUser: createUserRoute({ registration, users, acceptPending: invitations.acceptPending }),
    listUsers: listUsersRoute({ users, cursors }),
    createUserToken: createUserTokenRoute(tokenDeps),
    listUserTokens: listUserTokensRoute(tokenDeps),
    deleteUserToken: deleteUserTokenRoute(tokenDeps),
    putOrganizationMember: membersFeature.putOrganizationMember,
  };

  return {
    name: 'identity',
    rawRoutes: [...audit.rawRoutes, ...saml.rawRoutes],
    handlers: eraseHandlers({
      ...open,
      ...teams.handlers,
      ...invitations.handlers,
      ...forAdministrators(administration),
    }),
    start: () => runtime.start(),
    async stop() {
      await runtime.stop();
      await Promise.all([usage.settle(), sessionUsage.settle(), signIn.settle()]);
    },
    notReady: () => runtime.notReady(),
    status: () => runtime.status(),
    rebuild: (projections) => runtime.rebuild(projections),
    bootstrap,
    settled: async () => void (await Promise.all([usage.settle(), sessionUsage.settle(), signIn.settle()])),
    signInLinks: signIn.links,
  };
};
