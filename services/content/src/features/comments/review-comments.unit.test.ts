import type { CommandMetadata } from '@bindery/event-sourcing';
import type { OperationContext } from '@bindery/service-kit';
import { describe, expect, test } from '@jest/globals';
import { baseUrl, member } from '../../testing.ts';
import { permissionsOf } from '../access/index.ts';
import { type CommentCommand, commentDecider } from './decider.ts';
import type { CommentDeps } from './deps.ts';
import type { CommentEvent } from './events.ts';
import type { CommentDocument } from './read-model/document.ts';
import { evolveComment } from './read-model/projection.ts';
import { createReviewComments } from './review-comments.ts';
import type { CommentState } from './state.ts';

const now = new Date('2026-01-01T00:00:00.000Z');
const context = {
  principal: member('review', 'r1'),
  requestId: 'request-1',
  now,
  baseUrl,
} as unknown as OperationContext;

/** Comments in memory, and what was said about their counts. */
const memory = () => {
  const states = new Map<string, CommentState>();
  const documents = new Map<string, CommentDocument>();
  const changed: string[] = [];
  const stored = (id: string) => {
    const document = documents.get(id);
    return document && { id, revision: 0, document };
  };
  const deps = {
    repository: {
      async handle(id: string, command: CommentCommand, _metadata: CommandMetadata) {
        let state = states.get(id) ?? commentDecider.initialState();
        const events = commentDecider.decide(command, state);
        for (const event of events) {
          state = commentDecider.evolve(state, event);
          const document = evolveComment(documents.get(id), event as CommentEvent);
          if (document) documents.set(id, document);
        }
        states.set(id, state);
        return { state, revision: 0, events, position: 0 };
      },
    },
    comments: {
      getMany: async (ids: readonly string[]) =>
        new Map(ids.flatMap((id) => (documents.has(id) ? [[id, stored(id)] as const] : []))),
      query: async ({ where }: { where: { place: string } }) =>
        [...documents.keys()].map(stored).filter((it) => it?.document.place === where.place),
    },
    counts: {
      space: async (id: string) => void changed.push(`space ${id}`),
      changeRequest: async (id: string) => void changed.push(`change request ${id}`),
    },
  };
  return { deps: deps as unknown as CommentDeps, changed };
};
const review = { spaceId: 's1', organizationId: 'o1', changeRequestId: 'c1', reviewId: 'v1', revision: 'r2' };

describe('the comment of a review', () => {
  test('is one of the change request, posted once, and names its review', async () => {
    const { deps, changed } = memory();
    const reviews = createReviewComments(deps);
    const body = reviews.read({ markdown: 'Looks *good*' }, 'body.comment');
    await reviews.post(context, { ...review, commentId: 'm1', body });
    await reviews.post(context, { ...review, commentId: 'm1', body });
    expect(changed).toEqual(['change request c1']);
    const access = { permissions: permissionsOf('review', false) } as Parameters<typeof reviews.present>[1]['access'];
    const shown = await reviews.present(context, { ...review, access }, ['m1', 'gone']);
    expect([...shown.keys()]).toEqual(['m1']);
    expect(shown.get('m1')).toMatchObject({
      body: { markdown: 'Looks *good*' },
      postedBy: 'r1',
      target: { space: 's1', changeRequest: 'c1', review: 'v1', revision: 'r2' },
      permissions: { edit: true, delete: true },
    });
    expect((await reviews.present(context, { ...review, changeRequestId: 'c2', access }, ['m1'])).size).toBe(0);
  });

  test('is refused by the name of its field', () => {
    const { deps } = memory();
    expect(() => createReviewComments(deps).read({ markdown: 'x'.repeat(20_001) }, 'body.comment')).toThrow(
      /body\.comment\.markdown/,
    );
  });
});
