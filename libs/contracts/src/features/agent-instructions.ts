import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, Uri, words } from '../kit/schema.ts';
import { JSONDocument } from '../schemas/document.ts';

/** What agents that work for an organization are told (resources section 27). */
export const OrganizationAgentInstructions = component(
  'OrganizationAgentInstructions',
  closed(
    {
      object: words(['agent-instructions']),
      instructions: JSONDocument,
      updatedAt: DateTime,
      updatedBy: Id('Id of the user who changed them last.'),
      urls: closed({ location: Uri }),
    },
    { description: 'Instructions for agents. Before the first change: empty, as of the creation of the organization.' },
  ),
);

const params = closed({ organizationId: Id('Id of the organization.') });

/** Reads the instructions. */
export const getOrganizationAgentInstructions = operation({
  id: 'getOrganizationAgentInstructions',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/agent-instructions',
  tag: 'Organizations',
  summary: 'Get the agent instructions of an organization',
  description: 'Guests do not see them.',
  access: 'organization:listMembers',
  params,
  success: { 200: OrganizationAgentInstructions },
  etag: true,
});

/** Replaces the instructions. */
export const updateOrganizationAgentInstructions = operation({
  id: 'updateOrganizationAgentInstructions',
  owner: 'identity',
  surface: 'public',
  method: 'PUT',
  path: '/orgs/{organizationId}/agent-instructions',
  tag: 'Organizations',
  summary: 'Replace the agent instructions of an organization',
  description: 'At most 100,000 characters as JSON.',
  access: 'organization:admin',
  params,
  body: closed({ instructions: JSONDocument }),
  success: { 200: OrganizationAgentInstructions },
  errors: [409],
  etag: true,
});

/** Operations on agent instructions. */
export const agentInstructionOperations = {
  getOrganizationAgentInstructions,
  updateOrganizationAgentInstructions,
} as const;
