export * from './errors.ts';
export * from './remote/repository.ts';
export type { GitCredentials } from './remote/transport.ts';
