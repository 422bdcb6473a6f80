export { contentAuditRules } from './features/audit/index.ts';
export type { RawRoute } from './features/files/index.ts';
export { type ContentOptions, type ContentService, createContentService } from './service.ts';
export { contentSettings } from './settings.ts';
