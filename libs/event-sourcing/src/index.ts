export { createMembership, type Membership } from './consumers/membership.ts';
export * from './decider.ts';
export { documentPerStream, documentsPerEvent } from './define-projection.ts';
export { commandEventId, commandMetadata, deriveEventId, reactorMetadata } from './metadata.ts';
export * from './projection.ts';
export * from './repository.ts';
export { createServiceRuntime } from './runtime.ts';
export * from './service-runtime.ts';
export { defaultTuning, type RuntimeTuning } from './tuning.ts';
