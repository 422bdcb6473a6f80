import { validatePublicEvent } from '@bindery/contracts';
import { createParkedWork, createServiceRuntime } from '@bindery/event-sourcing';
import { createCursorCodec, eraseHandlers, type HandlersFor, type Principal } from '@bindery/service-kit';
import { createRepeatedWarnings } from '@bindery/telemetry';
import { forAdministrators } from './administration.ts';
import { createBootstrap } from './bootstrap.ts';
import { createErasing, erasureReactors } from './erasing.ts';
import { agentInstructionsProjection } from './features/agent-instructions/index.ts';
import { createAuditFeature, createOrigins, identityAuditProjection } from './features/audit/index.ts';
import { denialAggregate, reportDenialsRoute } from './features/denials/index.ts';
import { emailAggregate } from './features/emails/index.ts';
import { instanceAggregate, instanceProjection } from './features/instance/index.ts';
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
import { recordRecoveryRoute, recoveryAggregate } from './features/recoveries/index.ts';
import { createSamlFeature, endProviderSessionsReactor, samlProvidersProjection } from './features/saml/index.ts';
import {
  createSessionsFeature,
  openSessions,
  sessionsAggregate,
  sessionsProjection,
} from './features/sessions/index.ts';
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
import type { AdminOperation, IdentityOperations, IdentityOptions, IdentityService } from './identity-options.ts';
import { createInvitations, invitationProjections, invitationReactors } from './invitations.ts';
import { loadOwner, loadPrincipal } from './load-principal.ts';
import { createOrganizationHandlers } from './organization-handlers.ts';
import { publicMapping } from './public-mapping.ts';
import { createEpochs } from './shared/epochs.ts';
import { localWhenAway } from './shared/local-limits.ts';
import { createSealer } from './shared/personal-data.ts';
import { tolerant } from './shared/tolerant-cache.ts';
import { createSignIn, signInReactor } from './sign-in.ts';
import { defaultSignIn } from './sign-in-settings.ts';

/** Counter that the gateway keys embedded users by. */
const embeddedUsersEpoch = 'embed-epoch:user';
const day = 86_400_000;
/** Longest wait for the directory of members. */
const directoryWaitMs = 3000;

/** Users, tokens, organizations and members. Opens its collections; `start` does the rest. */
export const createIdentityService = async (options: IdentityOptions): Promise<IdentityService> => {
  const { ports, keys, vault, services, mailer, signIn: config = defaultSignIn, publicUrl = () => '' } = options;
  const { clock, readStore } = ports;
  const { logger } = ports.telemetry;
  const warnings = createRepeatedWarnings(logger);
  const cache = tolerant(ports.cache, warnings);
  const sealer = createSealer(keys);
  const cursors = createCursorCodec(vault.secret('identity'));
  const usage = await createTokenUsage(readStore, warnings);
  const sessionUsage = await createTokenUsage(readStore, warnings, sessionUsageCollection);
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
      ...erasureReactors(() => ({ ...erasing, users: userRepository, organizations: organizationRepository, clock })),
      endProviderSessionsReactor(() => ({ sessions: signedIn.sessions, live: () => openSessions(live), clock })),
      leaveTeamsReactor(() => ({ ...teamDeps, clock })),
      ...invitationReactors(keys, () => ({ runtime, ports, sealer, organizations, users, mailer, publicUrl })),
    ],
    publicMapping,
    validatePublic: validatePublicEvent,
    ...(options.tuning ? { tuning: options.tuning } : {}),
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
    await cache.bump(embeddedUsersEpoch, { ttlMs: day });
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
    ...{
      runtime,
      cache: localWhenAway(ports.cache, logger),
      logger,
      cursors,
      vault,
      registration,
      userExists,
      forget,
      members,
    },
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
  const erasing = createErasing({
    ...{
      runtime,
      ports,
      users: userRepository,
      emails,
      organizations: organizationRepository,
      credentials,
      members,
      keys,
    },
    ...{ forget, lastSeen, origins, profileChanged, liveUsers: users, sessions: signedIn.sessions },
  });
  const open: HandlersFor<Omit<IdentityOperations, AdminOperation>> = {
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
    ...erasing.handlers,
    reportDenials: reportDenialsRoute({ denials: runtime.repository(denialAggregate) }),
    recordRecovery: recordRecoveryRoute({ recoveries: runtime.repository(recoveryAggregate) }),
  };
  const administration: HandlersFor<Pick<IdentityOperations, AdminOperation>> = {
    ...audit.administration,
    ...erasing.administration,
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
      // What was put off is begun while commands are still taken.
      await signIn.settle();
      await runtime.stop();
      await Promise.all([usage.settle(), sessionUsage.settle(), signIn.settle()]);
      warnings.stop();
    },
    notReady: () => runtime.notReady(),
    status: () => runtime.status(),
    rebuild: (projections) => runtime.rebuild(projections),
    parked: createParkedWork({
      ...{ memberships: [], streams: runtime.parkedStreams, validatePublic: validatePublicEvent },
    }),
    bootstrap,
    settled: async () => void (await Promise.all([usage.settle(), sessionUsage.settle(), signIn.settle()])),
    signInLinks: signIn.links,
  };
};
