export * from './entry.ts';
export { auditProjection, auditProjectionName } from './projection.ts';
export { createAuditReader } from './reader.ts';
export * from './rules.ts';
