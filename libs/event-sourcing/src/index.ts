export * from './decider.ts';
export * from './projection.ts';
export * from './repository.ts';
export * from './service-runtime.ts';
