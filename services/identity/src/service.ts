import {
  type auditOperations,
  type identityAdminOperations,
  type identityAuditInternalOperations,
  type identityInternalOperations,
  type memberOperations,
  type memberRelationOperations,
  type organizationOperations,
  type samlOperations,
  type sessionOperations,
  type userOperations,
  validatePublicEvent,
} from '@bindery/contracts';
import { createServiceRuntime, type ServicePorts } from '@bindery/event-sourcing';
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
import { instanceAggregate, instanceProjection } from './features/instance/index.ts';
import {
  createLastSeen,
  createMembersFeature,
  directoryName,
  directoryProjection,
  membersProjection,
  openDirectory,
  openMembers,
  sharesOrganization,
} from './features/members/index.ts';
import { openOrganizations, organizationAggregate, organizationsProjection } from './features/organizations/index.ts';
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
import { loadOwner, loadPrincipal } from './load-principal.ts';
import { createOrganizationHandlers } from './organization-handlers.ts';
import { publicMapping } from './public-mapping.ts';
import { createEpochs } from './shared/epochs.ts';
import type { KeyStore } from './shared/key-store.ts';
import { createSealer } from './shared/personal-data.ts';
import { tolerant } from './shared/tolerant-cache.ts';
import type { Vault } from './shared/vault.ts';
import { defaultSignIn, type SignInConfig } from './sign-in-settings.ts';

export interface IdentityOptions {
  readonly ports: ServicePorts;
  /** Keys of users, in a store apart from the events. */
  readonly keys: KeyStore;
  /** What is derived from the master key. */
  readonly vault: Vault;
  /** Operations of the other services. */
  readonly services: ServiceClient;
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
  /** Waits for writes that no request waits for: the last use of tokens. */
  settled(): Promise<void>;
};

type Operations = typeof userOperations &
  typeof organizationOperations &
  typeof memberOperations &
  typeof memberRelationOperations &
  typeof identityInternalOperations &
  typeof sessionOperations &
  typeof samlOperations &
  typeof auditOperations &
  typeof identityAuditInternalOperations &
  typeof identityAdminOperations;

type AdminOperation = keyof typeof identityAdminOperations | 'listInstanceAuditEvents';

/** Counter that the gateway keys embedded users by. */
const embeddedUsersEpoch = 'embed-epoch:user';
const day = 86_400_000;
/** Longest wait for the directory of members. */
const directoryWaitMs = 3000;

/** Users, tokens, organizations and members. Opens its collections; `start` does the rest. */
export const createIdentityService = async (options: IdentityOptions): Promise<IdentityService> => {
  const { ports, keys, vault, services, signIn = defaultSignIn } = options;
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
      sessionsProjection,
      samlProvidersProjection,
      identityAuditProjection,
    ],
    reactors: [
      completeRegistrationReactor(() => ({ users: userRepository, registration, sealer, clock })),
      leaveTeamsReactor(() => ({ ...teamDeps, clock })),
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
  const principalOf = loadOwner({ members, organizations, teams: liveTeamsNow, live: runtime.live });
  const load = loadPrincipal(tokens, principalOf);
  const principals = createPrincipals({ kind: 'token', cache, epochs, usage, load });
  const forget = principals.forget;
  const sessionsRepository = runtime.repository(sessionsAggregate);
  const { live } = runtime;
  const remembering = { live, cache, epochs, sealer, cursors, forget, principalOf };
  const lifetimes = signIn.sessions;
  const signedIn = createSessionsFeature({
    ...remembering,
    repository: sessionsRepository,
    usage: sessionUsage,
    lifetimes,
  });
  const teamDeps = {
    repository: runtime.repository(teamAggregate),
    live: liveTeamsNow,
    members,
    lastSeen,
    cursors,
    forget,
  };
  const userOfEmail = (email: string) => registration.holderOf(email);
  const teams = createTeamsFeature({ ...teamDeps, userOfEmail, spacesOfTeams: spacesOfTeams(services) });
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

  const origins = createOrigins(sealer);
  const audit = createAuditFeature({ runtime, ports, services, users, members, sealer, cursors, vault });
  const getUserDeps = { users, sharesOrganization: shares };
  const tokenDeps = { credentials, tokens, usage, cursors, userExists, forget };
  const saml = createSamlFeature({
    ...{ runtime, cache: ports.cache, logger, cursors, vault, registration, userExists, forget, members },
    ...{ organizations: organizationRepository, sessions: signedIn.sessions, teams: teamDeps },
    settings: options.saml ?? {},
  });
  const { hasActiveProvider } = saml;
  const membersFeature = createMembersFeature({
    ...{ organizations: organizationRepository, members, lastSeen, cursors, services, forget, userExists },
    directory: () => openDirectory(live),
    directoryReady: async () =>
      runtime.waitFor(directoryName, await ports.eventStore.head(['identity.']), directoryWaitMs),
    hasActiveProvider,
    teamsOfMembers: (organizationId, userIds) => placesInOrganization(liveTeamsNow, organizationId, userIds),
    teamsById: (ids) => teamsById(liveTeamsNow, ids),
    presentTeams: teams.present,
  });
  const organizationHandlers = createOrganizationHandlers({
    ...{ runtime, repository: organizationRepository, organizations, cursors, forget, hasActiveProvider },
    verifiedEmail: async (userId) => (await users().get(userId))?.document.email,
    teamsOwnedBy: (userId) => organizationsOfOwner(liveTeamsNow, userId),
  });
  const open: HandlersFor<Omit<Operations, AdminOperation>> = {
    getAuthenticatedUser: getAuthenticatedUserRoute({ users }),
    getUserById: getUserByIdRoute(getUserDeps),
    updateUserById: updateUserRoute({ ...getUserDeps, repository: userRepository, sealer, profileChanged }),
    ...organizationHandlers,
    ...membersFeature.handlers,
    resolveToken: resolveTokenRoute({ principals, sealOrigin: origins.seal }),
    loadUsers: loadUsersRoute({ users }),
    ...signedIn.handlers,
    ...saml.handlers,
    ...audit.handlers,
    reportDenials: reportDenialsRoute({ denials: runtime.repository(denialAggregate) }),
  };
  const administration: HandlersFor<Pick<Operations, AdminOperation>> = {
    ...audit.administration,
    createUser: createUserRoute({ registration, users }),
    listUsers: listUsersRoute({ users, cursors }),
    createUserToken: createUserTokenRoute(tokenDeps),
    listUserTokens: listUserTokensRoute(tokenDeps),
    deleteUserToken: deleteUserTokenRoute(tokenDeps),
    putOrganizationMember: membersFeature.putOrganizationMember,
  };

  return {
    name: 'identity',
    rawRoutes: [...audit.rawRoutes, ...saml.rawRoutes],
    handlers: eraseHandlers({ ...open, ...teams.handlers, ...forAdministrators(administration) }),
    start: () => runtime.start(),
    async stop() {
      await runtime.stop();
      await Promise.all([usage.settle(), sessionUsage.settle()]);
    },
    notReady: () => runtime.notReady(),
    status: () => runtime.status(),
    rebuild: (projections) => runtime.rebuild(projections),
    bootstrap,
    settled: async () => void (await Promise.all([usage.settle(), sessionUsage.settle()])),
  };
};
