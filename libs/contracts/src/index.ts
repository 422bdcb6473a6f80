export * from './kit/components.ts';
export * from './kit/operation.ts';
export * from './kit/schema.ts';
export * from './limits.ts';
