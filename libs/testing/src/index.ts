export * from './read-store-conformance/index.ts';
