export * from './cloud-events.ts';
export * from './partitioner.ts';
export * from './port.ts';
