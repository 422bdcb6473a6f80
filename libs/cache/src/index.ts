export * from './errors.ts';
export * from './port.ts';
export * from './voids.ts';
