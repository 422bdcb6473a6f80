import {
  type auditOperations,
  type identityAdminOperations,
  type identityAuditInternalOperations,
  type identityInternalOperations,
  type memberOperations,
  type organizationOperations,
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
import { createAuditFeature, createOrigins, identityAuditProjection, type RawRoute } from './features/audit/index.ts';
import { denialAggregate, reportDenialsRoute } from './features/denials/index.ts';
import { emailAggregate } from './features/emails/index.ts';
import { instanceAggregate, instanceProjection } from './features/instance/index.ts';
import {
  createDirectory,
  createLastSeen,
  getMemberRoute,
  listMembersRoute,
  membersEpoch,
  membersProjection,
  openMembers,
  pingRoute,
  profilesEpoch,
  putMemberRoute,
  sharesOrganization,
} from './features/members/index.ts';
import {
  createOrganizationRoute,
  getOrganizationRoute,
  listOrganizationsRoute,
  openOrganizations,
  organizationAggregate,
  organizationsProjection,
} from './features/organizations/index.ts';
import { createSessionsFeature, sessionsAggregate, sessionsProjection } from './features/sessions/index.ts';
import {
  createTeamsFeature,
  leaveTeamsReactor,
  liveTeams,
  spacesOfTeams,
  teamAggregate,
  teamMembersProjection,
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
}

/** The identity service, and what its composition root calls at every start. */
export type IdentityService = Service & {
  /** Routes outside the JSON contract that the gateway mounts. */
  readonly rawRoutes: readonly RawRoute[];
  /** Call it between `start` and the first request. Idempotent, also when killed anywhere. */
  bootstrap(options: BootstrapOptions): Promise<Bootstrapped>;
  /** Waits for writes that no request waits for: the last use of tokens. */
  settled(): Promise<void>;
};

type Operations = typeof userOperations &
  typeof organizationOperations &
  typeof memberOperations &
  typeof identityInternalOperations &
  typeof sessionOperations &
  typeof auditOperations &
  typeof identityAuditInternalOperations &
  typeof identityAdminOperations;

type AdminOperation = keyof typeof identityAdminOperations | 'listInstanceAuditEvents';

/** Counter that the gateway keys embedded users by. */
const embeddedUsersEpoch = 'embed-epoch:user';
const day = 86_400_000;

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
      instanceProjection,
      teamsProjection,
      teamMembersProjection,
      sessionsProjection,
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
    await epochs.replace(profilesEpoch);
    await cache.increment(embeddedUsersEpoch, { ttlMs: day });
  };
  const registration = createRegistration({ users: userRepository, emails, keys, sealer, vault });
  const liveTeamsNow = liveTeams(runtime.live);
  const principalOf = loadOwner({ members, teams: liveTeamsNow, live: runtime.live });
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
  const memberDeps = { members, directory: createDirectory({ members, users, epochs }), lastSeen, cursors };
  const open: HandlersFor<Omit<Operations, AdminOperation>> = {
    getAuthenticatedUser: getAuthenticatedUserRoute({ users }),
    getUserById: getUserByIdRoute(getUserDeps),
    updateUserById: updateUserRoute({ ...getUserDeps, repository: userRepository, sealer, profileChanged }),
    createOrganization: createOrganizationRoute({ organizations: organizationRepository, forget }),
    listOrganizationsForAuthenticatedUser: listOrganizationsRoute({ organizations, cursors }),
    getOrganizationById: getOrganizationRoute({ organizations }),
    listMembersInOrganizationById: listMembersRoute(memberDeps),
    getMemberInOrganizationById: getMemberRoute(memberDeps),
    updateOrganizationMemberLastSeenAt: pingRoute({ lastSeen }),
    resolveToken: resolveTokenRoute({ principals, sealOrigin: origins.seal }),
    loadUsers: loadUsersRoute({ users }),
    ...signedIn.handlers,
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
    putOrganizationMember: putMemberRoute({
      ...memberDeps,
      organizations: organizationRepository,
      userExists,
      forget,
      membersChanged: (organizationId) => epochs.replace(membersEpoch(organizationId)),
    }),
  };

  return {
    name: 'identity',
    rawRoutes: audit.rawRoutes,
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
