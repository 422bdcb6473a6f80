export * from './blob-store-conformance/index.ts';
export * from './cache-conformance/index.ts';
export * from './event-store-conformance/index.ts';
export * from './faults/index.ts';
export * from './killed-process.ts';
export * from './message-bus-conformance/index.ts';
export * from './read-store-conformance/index.ts';
export * from './seeded-random.ts';
