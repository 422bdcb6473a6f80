import { identityAdminOperations } from './features/admin.ts';
import { agentInstructionOperations } from './features/agent-instructions.ts';
import { apiOperations } from './features/api.ts';
import { auditOperations, contentAuditInternalOperations, identityAuditInternalOperations } from './features/audit.ts';
import { changeRequestOperations } from './features/change-requests.ts';
import { collectionOperations } from './features/collections.ts';
import { commentOperations } from './features/comments.ts';
import { contentChangeOperations } from './features/content-changes.ts';
import { contentInternalOperations } from './features/content-internal.ts';
import { contentPermissionOperations } from './features/content-permissions.ts';
import { erasureOperations } from './features/erasure.ts';
import { fileOperations } from './features/files.ts';
import { gitOperations } from './features/git.ts';
import { identityInternalOperations } from './features/identity-internal.ts';
import { importRunOperations } from './features/import-runs.ts';
import { inviteOperations } from './features/invites.ts';
import { linkOperations } from './features/links.ts';
import { memberRelationOperations } from './features/member-relations.ts';
import { memberOperations } from './features/members.ts';
import { openapiSpecOperations } from './features/openapi-specs.ts';
import { organizationInternalOperations, organizationOperations } from './features/organizations.ts';
import { pageOperations } from './features/pages.ts';
import { parkedOperations, recoveryInternalOperations } from './features/parked.ts';
import { pdfOperations } from './features/pdf.ts';
import { reviewOperations } from './features/reviews.ts';
import { revisionOperations } from './features/revisions.ts';
import { samlOperations } from './features/saml.ts';
import { searchOperations } from './features/search.ts';
import { sessionOperations } from './features/sessions.ts';
import { signInAdminOperations, signInInternalOperations } from './features/sign-in.ts';
import { spaceOperations } from './features/spaces.ts';
import { storageOperations } from './features/storage.ts';
import { subdomainOperations } from './features/subdomains.ts';
import { teamInternalOperations, teamOperations } from './features/teams.ts';
import { templateOperations } from './features/templates.ts';
import { userTokenOperations } from './features/user-tokens.ts';
import { userOperations } from './features/users.ts';
import type { OperationDefinition } from './kit/operation.ts';

// Two lines per file of `features/`: its import above and its spread below.

/**
 * Every operation that works, by id: the source of routing, validation, types and the OpenAPI document. An operation
 * is declared when it is implemented, not before.
 */
export const operations = {
  ...apiOperations,
  ...parkedOperations,
  ...recoveryInternalOperations,
  ...userOperations,
  ...sessionOperations,
  ...userTokenOperations,
  ...signInInternalOperations,
  ...signInAdminOperations,
  ...organizationOperations,
  ...organizationInternalOperations,
  ...agentInstructionOperations,
  ...subdomainOperations,
  ...memberOperations,
  ...memberRelationOperations,
  ...teamOperations,
  ...inviteOperations,
  ...teamInternalOperations,
  ...identityAdminOperations,
  ...identityInternalOperations,
  ...spaceOperations,
  ...collectionOperations,
  ...contentPermissionOperations,
  ...contentInternalOperations,
  ...revisionOperations,
  ...pageOperations,
  ...fileOperations,
  ...storageOperations,
  ...importRunOperations,
  ...pdfOperations,
  ...linkOperations,
  ...templateOperations,
  ...samlOperations,
  ...gitOperations,
  ...openapiSpecOperations,
  ...searchOperations,
  ...changeRequestOperations,
  ...reviewOperations,
  ...contentChangeOperations,
  ...commentOperations,
  ...erasureOperations,
  ...auditOperations,
  ...identityAuditInternalOperations,
  ...contentAuditInternalOperations,
} as const satisfies Readonly<Record<string, OperationDefinition>>;

/** Id of a declared operation. */
export type OperationId = keyof typeof operations;
