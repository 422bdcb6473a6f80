import { type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import type { Scalar } from '@bindery/read-store';
import { type SpaceEvent, spaceAggregate } from '../spaces/index.ts';
import type { CommentDeps } from './deps.ts';

const name = 'purge-comments';
const batch = 100;

/**
 * Comments go for good with their space. Until then they only cannot be reached, as the space cannot, so that restoring it
 * brings them back.
 */
export const purgeComments = (deps: () => Pick<CommentDeps, 'comments' | 'repository'>): Reactor => ({
  name,
  aggregates: [spaceAggregate.name],
  handles: ['SpacePurged'],
  async react(event: Recorded<DomainEvent>) {
    const fact = event as unknown as SpaceEvent;
    if (fact.type !== 'SpacePurged') return;
    const { spaceId, organizationId, purgedAt } = fact.data;
    const { comments, repository } = deps();
    const clock = { now: () => new Date(event.metadata.time) };
    let after: readonly Scalar[] | undefined;
    for (;;) {
      const page = await comments.query({ where: { spaceId }, limit: batch, ...(after ? { after } : {}) });
      for (const { id } of page) {
        const data = { organizationId, by: 'content', at: purgedAt, purged: true } as const;
        await repository.handle(id, { type: 'DeleteComment', data }, reactorMetadata(event, name, clock, id));
      }
      const last = page.at(-1);
      if (last === undefined || page.length < batch) return;
      after = [last.id];
    }
  },
});
