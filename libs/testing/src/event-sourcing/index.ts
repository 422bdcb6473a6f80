export * from './manual-clock.ts';
export * from './sequential-ids.ts';
export * from './specification.ts';
export * from './test-runtime.ts';
export * from './until.ts';
