export * from './errors.ts';
export * from './key.ts';
export * from './port.ts';
