export * from './errors.ts';
export * from './mapping/allocate.ts';
export * from './mapping/config.ts';
export * from './mapping/links.ts';
export * from './mapping/renames.ts';
export * from './mapping/structure.ts';
export * from './mapping/summary.ts';
export * from './remote/repository.ts';
export type { GitCredentials } from './remote/transport.ts';
