import { describe, expect, test } from '@jest/globals';
import type { World } from './world.ts';

const said = (markdown: string) => ({ body: { markdown } });

/** All operations on comments and replies. */
export const comments = (world: () => World): void =>
  describe('comments', () => {
    let space: string;
    let change: string;

    test('a space and a change request to talk about', async () => {
      const { api } = world().admin;
      space = (await api.orgs.createSpace(world().organization, { title: 'Discussed' })).data.id;
      change = (await api.spaces.createChangeRequest(space, { subject: 'Discussed' })).data.id;
      expect((await api.spaces.getChangeRequestById(space, change)).data.comments).toBe(0);
    });

    test('comments and replies of a space', async () => {
      const { spaces } = world().admin.api;
      const user = world().admin.id;
      const page = (await spaces.listPages(space)).data.pages[0]?.id ?? '';
      const { data: comment } = await spaces.postCommentInSpace(space, { ...said('A *question*'), page });
      expect(comment).toMatchObject({
        status: 'open',
        body: { markdown: 'A *question*' },
        target: { page: { id: page } },
      });
      expect(comment.postedBy).toMatchObject({ object: 'user', id: user });
      const { data: changed } = await spaces.updateCommentInSpace(space, comment.id, {
        ...said('Another'),
        resolved: true,
        addedReactions: ['1f44d'],
      });
      expect(changed).toMatchObject({
        status: 'resolved',
        resolvedBy: { id: user },
        reactions: [{ emoji: '👍', count: 1 }],
      });
      const { data: reply } = await spaces.postCommentReplyInSpace(space, comment.id, said('An answer'));
      await spaces.updateCommentReplyInSpace(space, comment.id, reply.id, { addedReactions: ['🎉'] });
      const { data: read } = await spaces.getCommentReplyInSpace(space, comment.id, reply.id, { format: 'document' });
      expect(read).toMatchObject({ reactions: [{ emoji: '🎉' }], body: { document: { object: 'document' } } });
      expect((await spaces.listCommentRepliesInSpace(space, comment.id)).data.items).toHaveLength(1);
      expect((await spaces.getCommentInSpace(space, comment.id)).data).toMatchObject({
        replies: 1,
        repliers: [{ count: 1, user: { id: user } }],
      });
      const filters = { authors: [user, 'nobody'], status: 'resolved', targetPage: page, order: 'asc' } as const;
      expect((await spaces.listCommentsInSpace(space, { ...filters, authors: [...filters.authors] })).data.count).toBe(
        1,
      );
      expect((await spaces.getSpaceById(space)).data.comments).toBe(0);
      expect((await spaces.deleteCommentReplyInSpace(space, comment.id, reply.id)).status).toBe(205);
      expect((await spaces.deleteCommentInSpace(space, comment.id)).status).toBe(205);
      expect((await spaces.deleteCommentInSpace(space, comment.id)).status).toBe(204);
      await expect(spaces.getCommentInSpace(space, comment.id)).rejects.toMatchObject({ code: 404 });
      await expect(spaces.postCommentInSpace(space, { ...said('x'), page: 'nowhere' })).rejects.toMatchObject({
        code: 400,
        errorMessage: expect.stringContaining('body.page'),
      });
    });

    test('comments and replies of a change request', async () => {
      const { spaces } = world().admin.api;
      const { data: comment } = await spaces.postCommentInChangeRequest(space, change, said('A question'));
      expect(comment.target).toMatchObject({ space, changeRequest: change });
      const { data: reply } = await spaces.postCommentReplyInChangeRequest(
        space,
        change,
        comment.id,
        said('An answer'),
        {
          format: 'markdown',
        },
      );
      await spaces.updateCommentReplyInChangeRequest(space, change, comment.id, reply.id, said('A better answer'));
      const { data: read } = await spaces.getCommentReplyInChangeRequest(space, change, comment.id, reply.id);
      expect(read).toMatchObject({ body: { markdown: 'A better answer' }, editedAt: expect.any(String) });
      const listed = await spaces.listCommentRepliesInChangeRequest(space, change, comment.id);
      expect(listed.data.items.map(({ id }) => id)).toEqual([reply.id]);
      expect((await spaces.listCommentsInChangeRequest(space, change)).data.items.map(({ id }) => id)).toEqual([
        comment.id,
      ]);
      expect((await spaces.listCommentsInSpace(space)).data.items).toEqual([]);
      expect((await spaces.getChangeRequestById(space, change)).data.comments).toBe(1);
      await spaces.updateCommentInChangeRequest(space, change, comment.id, { resolved: true });
      expect((await spaces.getChangeRequestById(space, change)).data.comments).toBe(0);
      expect((await spaces.getCommentInChangeRequest(space, change, comment.id)).data.status).toBe('resolved');
      expect((await spaces.deleteCommentReplyInChangeRequest(space, change, comment.id, reply.id)).status).toBe(205);
      expect((await spaces.deleteCommentInChangeRequest(space, change, comment.id)).status).toBe(205);
    });
  });
