import type { Static, TSchema } from 'typebox';
import type { ServiceName } from './operation.ts';

/**
 * One public event of the catalogue (DESIGN section 5). `data` is the CloudEvents data; the envelope is the same for
 * all (`public-event-envelope.ts`). A published schema only grows by optional fields; anything else is a new version.
 */
export interface PublicEventDefinition {
  /** `bindery.<owner>.<thing>.<past tense>.v<n>`, for example `bindery.content.space.created.v1`. */
  readonly type: `bindery.${string}.v${number}`;
  readonly owner: ServiceName;
  /** One line: what happened. */
  readonly summary: string;
  readonly description?: string;
  /** Closed object. No personal data beyond ids (PITFALLS 39). */
  readonly data: TSchema;
  /** Example data; a test checks each against `data`. */
  readonly samples?: readonly unknown[];
}

/** Declares one public event. The identity function, kept for its types. */
export const publicEvent = <const D extends PublicEventDefinition>(definition: D): D => definition;

/** The data of a public event. */
export type EventDataOf<D extends PublicEventDefinition> = Static<D['data']>;

/** What a file of `events/` exports: its events by a short name. */
export type PublicEventGroup = Readonly<Record<string, PublicEventDefinition>> | readonly PublicEventDefinition[];
