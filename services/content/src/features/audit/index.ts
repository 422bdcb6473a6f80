import { auditActions, auditProjection, createAuditReader } from '@bindery/audit';
import type { contentAuditInternalOperations } from '@bindery/contracts';
import type { ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { HandlersFor } from '@bindery/service-kit';
import { contentAuditRules } from './rules.ts';

export { contentAuditRules } from './rules.ts';

/** The audit as the log of content has it. */
export const contentAuditProjection = auditProjection('content', contentAuditRules);

/** What identity asks for when it puts the audit of an organization together. */
export const createAuditHandlers = (
  runtime: Pick<ServiceRuntime, 'live' | 'waitFor'>,
  ports: Pick<ServicePorts, 'eventStore'>,
): HandlersFor<typeof contentAuditInternalOperations> => ({
  listContentAuditEntries: createAuditReader('content', runtime, ports),
  listContentAuditActions: async () => ({ status: 200, body: { actions: [...auditActions(contentAuditRules)] } }),
});
