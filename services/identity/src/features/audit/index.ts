import { auditActions, auditProjection, createAuditReader } from '@bindery/audit';
import type { ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { Vault } from '../../shared/vault.ts';
import { type LiveMembers, memberId } from '../members/index.ts';
import type { LiveUsers } from '../users/index.ts';
import { createAuditExports, type RawRoute } from './export.ts';
import { createAuditHandlers, createInstanceAuditHandlers } from './routes.ts';
import { identityAuditRules } from './rules.ts';
import { createAuditSources } from './sources.ts';

export type { RawRoute } from './export.ts';
export { createOrigins, type Origins } from './origins.ts';
export { identityAuditRules } from './rules.ts';

/** The audit as the log of identity has it. */
export const identityAuditProjection = auditProjection('identity', identityAuditRules);

/** The audit of the whole product: identity merges what the services have. */
export const createAuditFeature = (deps: {
  readonly runtime: Pick<ServiceRuntime, 'live' | 'waitFor'>;
  readonly ports: Pick<ServicePorts, 'eventStore'>;
  readonly services: ServiceClient;
  readonly users: LiveUsers;
  readonly members: LiveMembers;
  readonly sealer: PersonalDataSealer;
  readonly cursors: CursorCodec;
  readonly vault: Vault;
}) => {
  const { runtime, ports, services, users, members, sealer, cursors, vault } = deps;
  const own = createAuditReader('identity', runtime, ports);
  const sources = createAuditSources({ own, ownActions: auditActions(identityAuditRules), services });
  const exports = createAuditExports({
    users,
    sealer,
    sources,
    secret: vault.secret('audit-exports'),
    administers: async (organizationId, userId) =>
      (await members().get(memberId(organizationId, userId)))?.document.role === 'admin',
  });
  const routes = { users, sealer, sources, cursors, exports };
  return {
    handlers: { ...createAuditHandlers(routes), listIdentityAuditEntries: own },
    administration: createInstanceAuditHandlers(routes),
    rawRoutes: [exports.route] as readonly RawRoute[],
  };
};
