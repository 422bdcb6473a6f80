export * from './cluster.ts';
export * from './servers.ts';
