import type { AggregateDefinition } from '@bindery/event-sourcing';
import { type ChangeRequestCommand, changeRequestDecider } from './decider.ts';
import type { ChangeRequestEvent } from './events.ts';
import type { ChangeRequestState } from './state.ts';

/** Streams `content.changeRequest-<id>`. */
export const changeRequestAggregate: AggregateDefinition<ChangeRequestState, ChangeRequestCommand, ChangeRequestEvent> =
  { name: 'content.changeRequest', decider: changeRequestDecider };
