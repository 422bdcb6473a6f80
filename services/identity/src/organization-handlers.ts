import type {
  agentInstructionOperations,
  organizationInternalOperations,
  organizationOperations,
  subdomainOperations,
} from '@bindery/contracts';
import type { ServiceRuntime } from '@bindery/event-sourcing';
import type { CursorCodec, HandlersFor } from '@bindery/service-kit';
import {
  agentInstructionRoutes,
  agentInstructionsAggregate,
  openAgentInstructions,
} from './features/agent-instructions/index.ts';
import {
  createOrganizationRoute,
  emailDomainRoutes,
  getOrganizationRoute,
  type LiveOrganizations,
  listOrganizationsRoute,
  loadMergeRulesRoute,
  loadOrganizationsRoute,
  type OrganizationRepository,
  updateOrganizationRoute,
} from './features/organizations/index.ts';
import { createSubdomainClaims, getSubdomainRoute, subdomainAggregate } from './features/subdomains/index.ts';
import type { ForgetPrincipal, HasActiveProvider, TeamsOwnedBy, VerifiedEmail } from './shared/ports.ts';

export interface OrganizationHandlersDeps {
  readonly runtime: ServiceRuntime;
  readonly repository: OrganizationRepository;
  readonly organizations: LiveOrganizations;
  readonly cursors: CursorCodec;
  readonly forget: ForgetPrincipal;
  readonly verifiedEmail: VerifiedEmail;
  readonly hasActiveProvider: HasActiveProvider;
  readonly teamsOwnedBy: TeamsOwnedBy;
  /** Makes a change count at the next request of every member. */
  readonly forgetMembers: (organizationId: string) => Promise<void>;
}

type Operations = typeof organizationOperations &
  typeof organizationInternalOperations &
  typeof agentInstructionOperations &
  typeof subdomainOperations;

/** What organizations answer: themselves, the names they hold, and what their agents are told. */
export const createOrganizationHandlers = (given: OrganizationHandlersDeps): HandlersFor<Operations> => {
  const { runtime, repository, organizations } = given;
  const subdomains = runtime.repository(subdomainAggregate);
  const claims = createSubdomainClaims({
    subdomains,
    async hostnameOf(organizationId) {
      const { state } = await repository.load(organizationId);
      return state.status === 'active' ? state.settings.hostname : undefined;
    },
  });
  const deps = { ...given, claims };
  return {
    createOrganization: createOrganizationRoute({ organizations: repository, forget: given.forget }),
    listOrganizationsForAuthenticatedUser: listOrganizationsRoute(deps),
    getOrganizationById: getOrganizationRoute(deps),
    updateOrganizationById: updateOrganizationRoute(deps),
    ...emailDomainRoutes(deps),
    loadOrganizations: loadOrganizationsRoute(deps),
    loadMergeRules: loadMergeRulesRoute(deps),
    ...agentInstructionRoutes({
      repository: runtime.repository(agentInstructionsAggregate),
      instructions: () => openAgentInstructions(runtime.live),
      organizations,
    }),
    getSubdomain: getSubdomainRoute({ subdomains, organizations }),
  };
};
