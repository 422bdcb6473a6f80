import type { AggregateDefinition, Repository } from '@bindery/event-sourcing';
import { type GitSyncCommand, gitSyncDecider } from './decider.ts';
import type { GitSyncEvent } from './events.ts';
import type { GitSyncStateOfSpace } from './state.ts';

/** Streams `content.gitSync-<space id>`. */
export const gitSyncAggregate: AggregateDefinition<GitSyncStateOfSpace, GitSyncCommand, GitSyncEvent> = {
  name: 'content.gitSync',
  decider: gitSyncDecider,
};
export type GitSyncRepository = Repository<GitSyncStateOfSpace, GitSyncCommand, GitSyncEvent>;
