export * from './read-store-conformance/index.ts';
export * from './cache-conformance/index.ts';
export * from './blob-store-conformance/index.ts';
