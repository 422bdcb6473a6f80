import type { AuditActor } from '@bindery/contracts';
import type { CollectionSpec } from '@bindery/read-store';

/** An entry of the audit as it is stored. No personal data in clear: `origin` is sealed, names are looked up when it is read. */
export interface AuditEntryDocument {
  /** Of the event that it is made of. */
  readonly id: string;
  readonly time: string;
  /** Empty: it concerns the instance, not one organization. */
  readonly organizationId: string;
  readonly action: string;
  readonly actorId: string;
  readonly actorKind: AuditActor['kind'];
  readonly tokenId?: string;
  readonly origin?: string;
  readonly targetId: string;
  readonly targetType: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly schemaVersion: number;
  /** Values that the target had before and has afterwards, those that the event names. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Audited values of one target as they are now: where the values "before" come from. */
export interface AuditValuesDocument {
  readonly values: Readonly<Record<string, unknown>>;
}

/** Entries of a service. */
export const auditCollection = (service: string): CollectionSpec => ({
  name: `${service}.audit`,
  version: 1,
  indexes: [
    { name: 'by-organization', fields: ['organizationId', 'time'] },
    { name: 'by-action', fields: ['organizationId', 'action', 'time'] },
    { name: 'by-actor', fields: ['organizationId', 'actorId', 'time'] },
    { name: 'by-target', fields: ['organizationId', 'targetId', 'time'] },
    { name: 'by-time', fields: ['time'] },
  ],
});

/** Present values of the targets of a service. */
export const auditValuesCollection = (service: string): CollectionSpec => ({
  name: `${service}.audit-values`,
  version: 1,
  indexes: [],
});
