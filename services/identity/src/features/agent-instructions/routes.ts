import {
  type agentInstructionOperations,
  type getOrganizationAgentInstructions,
  type JSONDocument,
  limits,
  type updateOrganizationAgentInstructions,
} from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import {
  etagOf,
  forbidden,
  type HandlersFor,
  invalid,
  membershipIn,
  notFound,
  type OperationHandler,
} from '@bindery/service-kit';
import { type LiveOrganizations, organizationPermissions, requireAdministrator } from '../organizations/index.ts';
import type { AgentInstructionsState, AgentInstructionsUpdated, UpdateAgentInstructions } from './aggregate.ts';
import type { AgentInstructionsDocument, LiveAgentInstructions } from './read-model.ts';

export interface AgentInstructionsDeps {
  readonly repository: Repository<AgentInstructionsState, UpdateAgentInstructions, AgentInstructionsUpdated>;
  readonly instructions: LiveAgentInstructions;
  readonly organizations: LiveOrganizations;
}

const empty: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };

const present = (organizationId: string, document: AgentInstructionsDocument, baseUrl: string) => ({
  object: 'agent-instructions' as const,
  // Text that this service made of a document that the contract had checked.
  instructions: JSON.parse(document.instructions) as JSONDocument,
  updatedAt: document.updatedAt,
  updatedBy: document.updatedBy,
  urls: { location: `${baseUrl}/v1/orgs/${organizationId}/agent-instructions` },
});

const get =
  (deps: AgentInstructionsDeps): OperationHandler<typeof getOrganizationAgentInstructions> =>
  async ({ principal, baseUrl }, { params: { organizationId } }) => {
    const membership = membershipIn(principal, organizationId);
    if (membership === undefined) throw notFound('organization');
    if (!organizationPermissions(membership).listMembers)
      throw forbidden('agent_instructions.guest', 'Guests do not see the agent instructions.');
    const stored = await deps.instructions().get(organizationId);
    if (stored !== undefined) {
      const { document } = stored;
      return { status: 200, body: present(organizationId, document, baseUrl), etag: etagOf(document.version) };
    }
    const organization = await deps.organizations().get(organizationId);
    if (organization === undefined) throw notFound('organization');
    const { createdAt: updatedAt, createdBy: updatedBy } = organization.document;
    const initial = { instructions: JSON.stringify(empty), updatedAt, updatedBy, version: 0 };
    return { status: 200, body: present(organizationId, initial, baseUrl), etag: etagOf(0) };
  };

const put =
  (deps: AgentInstructionsDeps): OperationHandler<typeof updateOrganizationAgentInstructions> =>
  async (context, { params: { organizationId }, body: { instructions }, ifMatch }) => {
    const { principal, baseUrl, now } = context;
    requireAdministrator(principal, organizationId);
    const text = JSON.stringify(instructions);
    if (text.length > limits.agentInstructions.maxLength)
      throw invalid(
        'agent_instructions.too_long',
        `body.instructions: at most ${limits.agentInstructions.maxLength} characters as JSON`,
      );
    const updated = { organizationId, updatedBy: principal.id, updatedAt: now.toISOString() };
    const data = { ...updated, instructions, ...(ifMatch === undefined ? {} : { ifMatch }) };
    const { events, state } = await deps.repository.handle(
      organizationId,
      { type: 'UpdateAgentInstructions', data },
      commandMetadata(context, organizationId),
    );
    // What this request wrote, also when it is repeated and others have written since.
    const written = events.at(-1)?.data ?? { ...updated, instructions, version: state.version };
    const body = present(organizationId, { ...written, instructions: JSON.stringify(written.instructions) }, baseUrl);
    return { status: 200, body, etag: etagOf(written.version) };
  };

/** Handlers of the agent instructions of organizations. */
export const agentInstructionRoutes = (
  deps: AgentInstructionsDeps,
): HandlersFor<typeof agentInstructionOperations> => ({
  getOrganizationAgentInstructions: get(deps),
  updateOrganizationAgentInstructions: put(deps),
});
