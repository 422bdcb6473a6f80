import type { AggregateDefinition, Repository } from '@bindery/event-sourcing';
import { type OpenAPISpecCommand, openapiSpecDecider } from './decider.ts';
import type { OpenAPISpecEvent } from './events.ts';
import type { SpecState } from './state.ts';

/** Streams `content.openapiSpec-<organization>.<slug>`: who has a slug is decided by its stream. */
export const openapiSpecAggregate: AggregateDefinition<SpecState, OpenAPISpecCommand, OpenAPISpecEvent> = {
  name: 'content.openapiSpec',
  decider: openapiSpecDecider,
};
export type OpenAPISpecRepository = Repository<SpecState, OpenAPISpecCommand, OpenAPISpecEvent>;

/** Id of the stream of a slug, and of its document. Neither part has a dot in it. */
export const specKey = (organizationId: string, slug: string): string => `${organizationId}.${slug}`;
