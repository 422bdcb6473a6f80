export { observedCache } from './cache.ts';
export type { System } from './calls.ts';
export { observedEventStore } from './event-store.ts';
export { CONSUMER_METRIC, observedMessageBus } from './message-bus.ts';
export { observedBlobStore, observedFetch, observedMailer } from './outgoing.ts';
export { observedReadStore } from './read-store.ts';
