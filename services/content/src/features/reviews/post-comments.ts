import { type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import { type ChangeRequestEvent, changeRequestAggregate } from '../change-requests/index.ts';
import type { LeftCommentsDeps } from './deps.ts';

const name = 'post-review-comments';

/** A review that says something has its comment: whoever submitted it may have died before posting that. */
export const postReviewComments = (deps: () => LeftCommentsDeps): Reactor => ({
  name,
  aggregates: [changeRequestAggregate.name],
  handles: ['ChangeRequestReviewed'],
  async react(event: Recorded<DomainEvent>) {
    const fact = event as unknown as ChangeRequestEvent;
    if (fact.type !== 'ChangeRequestReviewed' || fact.data.comment === undefined) return;
    const { spaceId, organizationId, changeRequestId, reviewId, revisionId, reviewer, reviewedAt, comment } = fact.data;
    const { commentId, body } = comment;
    const { repository, counts } = deps();
    // The request that submitted it has nearly always posted it too.
    if ((repository.known(commentId)?.status ?? 'none') !== 'none') return;
    const ids = { spaceId, organizationId, changeRequestId, commentId };
    const data = { ...ids, target: { revision: revisionId, reviewId }, body, postedBy: reviewer, postedAt: reviewedAt };
    const metadata = reactorMetadata(event, name, { now: () => new Date(event.metadata.time) });
    const { events } = await repository.handle(commentId, { type: 'PostComment', data }, metadata);
    if (events.length > 0) await counts.changeRequest(changeRequestId);
  },
});
