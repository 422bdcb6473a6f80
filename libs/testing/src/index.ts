export * from './read-store-conformance/index.ts';
export * from './cache-conformance/index.ts';
