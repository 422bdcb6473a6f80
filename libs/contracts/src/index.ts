export * from './features/api.ts';
export * from './kit/components.ts';
export * from './kit/operation.ts';
export * from './kit/public-event.ts';
export * from './kit/schema.ts';
export * from './limits.ts';
export * from './operations.ts';
export * from './public-events.ts';
