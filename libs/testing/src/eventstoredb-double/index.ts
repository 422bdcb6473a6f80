export { type DoubleOptions, EventStoreDbDouble, freePort } from './double.ts';
export type { Fault, FaultKind, FaultTarget } from './faults.ts';
export { EventStoreDbProcess } from './process.ts';
