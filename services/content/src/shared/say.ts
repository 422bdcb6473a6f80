import type { EventDataOf, PublicEventDefinition } from '@bindery/contracts';
import type { PublicEvent } from '@bindery/event-sourcing';

/** One public event, its data checked against the catalogue by the compiler. @param subject what it is about: its key */
export const say = <D extends PublicEventDefinition>(
  definition: D,
  subject: string,
  data: EventDataOf<D> & object,
): readonly PublicEvent[] => [{ type: definition.type, subject, data: data as PublicEvent['data'] }];
