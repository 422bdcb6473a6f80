export * from './encode.ts';
export * from './port.ts';
