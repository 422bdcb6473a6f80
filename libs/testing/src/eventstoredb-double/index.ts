export { type DoubleOptions, EventStoreDbDouble, freePort } from './double.ts';
export type { Fault, FaultKind, FaultTarget } from './faults.ts';
export { EventStoreDbProcess } from './process.ts';
export type { User } from './users.ts';
export { MOST_EVENT_BYTES, SERVER_VERSIONS, type ServerVersion } from './versions.ts';
