export * from './cloud-events.ts';
export * from './dead-letters.ts';
export * from './partitioner.ts';
export * from './port.ts';
