export * from './errors.ts';
export * from './fields.ts';
export * from './port.ts';
export * from './query-rules.ts';
