import type { LiveCollection, ServiceRuntime } from '@bindery/event-sourcing';
import type { EventStore } from '@bindery/event-store';
import type { CursorCodec, ServiceClient } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { FileLinks } from '../files/index.ts';
import type { RevisionReader } from '../revisions/index.ts';
import type { SpacesCollection } from '../spaces/index.ts';

/** What the lists of links work with. */
export interface LinksDeps {
  readonly access: Access;
  readonly reader: Pick<RevisionReader, 'tree'>;
  readonly spaces: SpacesCollection;
  readonly live: LiveCollection;
  readonly runtime: Pick<ServiceRuntime, 'waitFor'>;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly cursors: CursorCodec;
  readonly fileLinks: FileLinks;
  /** Operations of this service: spaces, collections and specifications as the caller sees them. */
  readonly own: ServiceClient;
  /** Operations of the other services: who is a member. */
  readonly services: ServiceClient;
}
