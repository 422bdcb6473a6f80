export { type InitializeInstance, instanceAggregate } from './decider.ts';
export type { InstanceEvent } from './events.ts';
export { instanceProjection, isAdministrator } from './read-model.ts';
export { type InstanceState, instanceId } from './state.ts';
