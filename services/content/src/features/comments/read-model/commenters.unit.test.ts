import type { DomainEvent, ProjectionReader, Recorded } from '@bindery/event-sourcing';
import { expect, test } from '@jest/globals';
import { type CommenterDocument, commentersCollection, commentersProjection } from './commenters.ts';

const place = { spaceId: 's1', organizationId: 'o1', changeRequestId: 'c1' };
const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;

/** The view after some events; `twice` of them is what it is after once. */
const viewOf = () => {
  const rows = new Map<string, { readonly revision: number; readonly document: unknown }>();
  const key = (collection: { readonly name: string }, id: string): string => `${collection.name} ${id}`;
  const reader = {
    get: async (collection, id) => rows.get(key(collection, id))?.document ?? undefined,
  } as ProjectionReader;
  let position = 0;
  return {
    async apply(type: string, data: object, repeated?: number) {
      position = repeated ?? position + 1;
      const event = { type, data: { ...place, ...data }, position } as unknown as Recorded<DomainEvent>;
      for (const { collection, write } of await commentersProjection.apply(event, reader)) {
        const row = key(collection, write.id);
        if ((rows.get(row)?.revision ?? -1) >= write.revision) continue;
        rows.set(row, { revision: write.revision, document: write.kind === 'put' ? write.document : undefined });
      }
    },
    said: () =>
      [...rows]
        .filter(([name, { document }]) => name.startsWith(`${commentersCollection.name} `) && document !== undefined)
        .map(([, { document }]) => document as CommenterDocument)
        .map(({ user, count, updatedAt }) => `${user} ${count} ${updatedAt.slice(17, 19)}`),
  };
};

test('counts comments and replies of each, and takes away what is deleted', async () => {
  const { apply, said } = viewOf();
  await apply('CommentPosted', { commentId: 'm1', postedBy: 'ann', postedAt: at(1) });
  await apply('CommentReplyPosted', { commentId: 'm1', replyId: 'r1', postedBy: 'bob', postedAt: at(2) });
  await apply('CommentReplyPosted', { commentId: 'm1', replyId: 'r2', postedBy: 'ann', postedAt: at(3) });
  await apply('CommentPosted', { commentId: 'm2', postedBy: 'bob', postedAt: at(4) });
  expect(said()).toEqual(['ann 2 03', 'bob 2 04']);
  await apply('CommentReplyDeleted', { commentId: 'm1', replyId: 'r1' });
  expect(said()).toEqual(['ann 2 03', 'bob 1 04']);
  await apply('CommentReplyDeleted', { commentId: 'm1', replyId: 'r1' });
  await apply('CommentDeleted', { commentId: 'm1', replies: ['r2'] });
  expect(said()).toEqual(['bob 1 04']);
});

test('an event that comes twice counts once', async () => {
  const { apply, said } = viewOf();
  const data = { commentId: 'm1', postedBy: 'ann', postedAt: at(1) };
  await apply('CommentPosted', data);
  await apply('CommentPosted', data, 1);
  expect(said()).toEqual(['ann 1 01']);
});
