import { until } from '@bindery/testing/event-sourcing';
import { afterAll, describe, expect, test } from '@jest/globals';
import { member, openSpace } from '../../testing.ts';
import { commentsCollection, repliesCollection } from './read-model/document.ts';
import { admin, commentCalls, commenter, other, reader, startCommented } from './testing.ts';

const commented = await startCommented();
const { content, spaceId, pageId, changeRequestId, draftPageId } = commented;
const { inSpace, inRequest, list, openInSpace, openInRequest, post, update, everything } = commentCalls(commented);
afterAll(() => content.stop());

describe('replies', () => {
  test('come in the order of posting, with who replied how often', async () => {
    const { id: commentId } = await post('Discuss');
    const say = (markdown: string, as = commenter) =>
      content.call('postCommentReplyInSpace', as, { ...inSpace({ commentId }), body: { body: { markdown } } });
    for (const text of ['1', '2', '3']) await say(text);
    const last = await say('4', other);
    expect(last.body).toMatchObject({ object: 'comment-reply', postedBy: { id: 'c2' }, body: { markdown: '4' } });
    const replies = async (query: object = {}) =>
      (await content.call('listCommentRepliesInSpace', reader, { ...inSpace({ commentId }), query: { ...query } }))
        .body;
    const firstPage = await replies({ limit: 3 });
    expect(firstPage.items.map(({ body }) => body)).toEqual(['1', '2', '3'].map((markdown) => ({ markdown })));
    await say('5');
    const rest = await replies({ limit: 3, page: firstPage.next?.page });
    expect(rest.items.map(({ body }) => body)).toEqual(['4', '5'].map((markdown) => ({ markdown })));
    expect([rest.count, rest.next]).toEqual([5, undefined]);
    const read = async () => (await content.call('getCommentInSpace', reader, inSpace({ commentId }))).body;
    expect(await read()).toMatchObject({
      replies: 5,
      repliers: [
        { user: { id: 'c1' }, count: 4 },
        { user: { id: 'c2' }, count: 1 },
      ],
    });
    const one = inSpace({ commentId, commentReplyId: last.body.id });
    const change = (body: object, as = other, more: object = {}) =>
      content.call('updateCommentReplyInSpace', as, { ...one, body, ...more });
    expect((await change({ body: { markdown: 'x' } }, commenter)).status).toBe(403);
    expect((await change({ resolved: true })).status).toBe(400);
    const liked = await change({ addedReactions: ['👍'] }, commenter);
    expect([liked.body.reactions[0]?.count, liked.body.editedAt]).toEqual([1, undefined]);
    const changed = await change({ body: { markdown: 'four' } }, other, { ifMatch: liked.etag });
    expect(changed.body).toMatchObject({ body: { markdown: 'four' }, editedAt: expect.any(String) });
    expect((await change({ body: { markdown: 'y' } }, other, { ifMatch: liked.etag })).status).toBe(412);
    expect((await content.call('deleteCommentReplyInSpace', commenter, one)).status).toBe(403);
    expect((await content.call('deleteCommentReplyInSpace', other, one)).status).toBe(205);
    expect((await content.call('deleteCommentReplyInSpace', other, one)).status).toBe(204);
    expect((await content.call('getCommentReplyInSpace', reader, one)).status).toBe(404);
    expect(await read()).toMatchObject({ replies: 4, repliers: [{ user: { id: 'c1' }, count: 4 }] });
    const kept = inSpace({ commentId, commentReplyId: firstPage.items[0]?.id });
    expect((await content.call('getCommentReplyInSpace', reader, kept)).status).toBe(200);
    const elsewhere = inSpace({ commentId: (await post('Another')).id, commentReplyId: firstPage.items[0]?.id });
    expect((await content.call('getCommentReplyInSpace', reader, elsewhere)).status).toBe(404);
    await content.call('deleteCommentInSpace', commenter, inSpace({ commentId }));
    expect((await content.call('getCommentReplyInSpace', reader, kept)).status).toBe(404);
    expect((await content.call('listCommentRepliesInSpace', reader, inSpace({ commentId }))).status).toBe(404);
  });

  test('fifty at once are all there', async () => {
    const { id: commentId } = await post('Crowded');
    const body = { body: { markdown: 'me too' } };
    await Promise.all(
      Array.from({ length: 50 }, () =>
        content.call('postCommentReplyInSpace', commenter, { ...inSpace({ commentId }), body }),
      ),
    );
    const { body: found } = await content.call('listCommentRepliesInSpace', reader, {
      ...inSpace({ commentId }),
      query: { limit: 1000 },
    });
    expect([found.count, new Set(found.items.map(({ id }) => id)).size]).toEqual([50, 50]);
  });
});

describe('lists', () => {
  test('filters, order and pages compose, also while being written to', async () => {
    const people = [member('comment', 'l1'), member('comment', 'l2'), member('comment', 'l3')] as const;
    const made: string[] = [];
    for (let index = 0; index < 30; index += 1) {
      const more = index % 2 === 0 ? { page: pageId } : {};
      const { id } = await post(`L${index}`, people[index % 3], more);
      if (index % 5 === 0) await update(id, { resolved: true });
      made.push(id);
    }
    const ids = async (query: object): Promise<string[]> => {
      const seen: string[] = [];
      let page: string | undefined;
      do {
        const found = await list({ ...query, limit: 4, ...(page ? { page } : {}) });
        seen.push(...found.items.map(({ id }) => id));
        page = found.next?.page;
        // New ones come before what is left of a list that begins with the newest.
        await post('In between', people[0], { page: pageId });
      } while (page !== undefined);
      return seen;
    };
    const both = { authors: ['l2', 'l3'], targetPage: pageId, status: 'open' };
    const wanted = made.filter((_, index) => index % 3 !== 0 && index % 2 === 0 && index % 5 !== 0);
    expect(new Set(await ids(both))).toEqual(new Set(wanted));
    const down = await ids({ ...both, authors: ['l3', 'l2', 'l2'] });
    expect(await ids({ ...both, order: 'asc' })).toEqual(down.toReversed());
    expect((await list({ ...both, limit: 0 })).count).toBe(wanted.length);
    const first = await list({ limit: 2 });
    for (const query of [{ order: 'asc' }, { status: 'open' }, { authors: ['l1'] }, { targetPage: pageId }])
      expect(
        (
          await content.call('listCommentsInSpace', reader, {
            ...inSpace(),
            query: { ...query, page: first.next?.page },
          })
        ).status,
      ).toBe(400);
    expect(await list({ authors: ['nobody'] })).toEqual({ items: [], count: 0 });
  });
});

describe('a comment on a change request', () => {
  test('is apart from those of the space, and found by id and number', async () => {
    const before = await openInSpace();
    const { number } = (await content.call('getChangeRequestById', reader, inRequest())).body;
    const byNumber = { params: { spaceId, changeRequestId: String(number) } };
    const body = { body: { markdown: 'On the draft' }, page: draftPageId };
    const posted = await content.call('postCommentInChangeRequest', commenter, { ...byNumber, body });
    const commentId = posted.body.id;
    expect(posted.body.target).toMatchObject({ changeRequest: changeRequestId, page: { id: draftPageId } });
    expect(posted.body.urls.location).toContain(`/change-requests/${changeRequestId}/comments/`);
    expect([await openInRequest(), await openInSpace()]).toEqual([1, before]);
    const listed = await content.call('listChangeRequestsForSpace', reader, inSpace());
    expect(listed.body.items.map(({ comments }) => comments)).toEqual([1]);
    expect((await content.call('getCommentInChangeRequest', reader, inRequest({ commentId }))).status).toBe(200);
    expect((await content.call('getCommentInSpace', reader, inSpace({ commentId }))).status).toBe(404);
    const theirs = (await post('Of the space')).id;
    expect((await content.call('getCommentInChangeRequest', reader, inRequest({ commentId: theirs }))).status).toBe(
      404,
    );
    expect((await content.call('deleteCommentInChangeRequest', admin, inRequest({ commentId: theirs }))).status).toBe(
      204,
    );
    const foreign = await openSpace(content, admin);
    for (const params of [
      { spaceId: foreign, commentId },
      { spaceId: foreign, changeRequestId, commentId },
    ]) {
      const operation = 'changeRequestId' in params ? 'getCommentInChangeRequest' : 'getCommentInSpace';
      expect((await content.call(operation, admin, { params })).status).toBe(404);
    }
    const reply = await content.call('postCommentReplyInChangeRequest', other, {
      ...inRequest({ commentId }),
      query: { format: 'document' },
      body: { body: { markdown: 'Agreed' } },
    });
    expect(reply.body.body).toMatchObject({ document: { object: 'document' } });
    const commentReplyId = reply.body.id;
    const resolvedReply = await content.call('updateCommentReplyInChangeRequest', other, {
      ...inRequest({ commentId, commentReplyId }),
      body: { resolved: true, addedReactions: ['👍'] },
    });
    expect(resolvedReply.body.reactions).toHaveLength(1);
    expect(await openInRequest()).toBe(1);
    const contributors = await content.call('getContributorsByChangeRequestId', reader, inRequest());
    expect(contributors.body.items).toMatchObject([
      { actionType: 'edit', user: { id: 'user-admin' } },
      { actionType: 'comment', count: 1 },
      { actionType: 'comment', count: 1 },
    ]);
    const one = inRequest({ commentId });
    expect((await content.call('listCommentRepliesInChangeRequest', reader, one)).body.count).toBe(1);
  });

  test('stays, and can be answered, when the change request is archived or merged', async () => {
    const { items } = (await content.call('listCommentsInChangeRequest', reader, inRequest())).body;
    const commentId = items[0]?.id ?? '';
    await content.call('updateChangeRequestById', admin, { ...inRequest(), body: { status: 'archived' } });
    expect(await openInRequest()).toBe(1);
    await content.call('updateChangeRequestById', admin, { ...inRequest(), body: { status: 'open' } });
    expect((await content.call('mergeChangeRequest', admin, inRequest())).status).toBe(200);
    expect(await openInRequest()).toBe(1);
    const resolve = { ...inRequest({ commentId }), body: { resolved: true } };
    expect((await content.call('updateCommentInChangeRequest', commenter, resolve)).body.status).toBe('resolved');
    expect(await openInRequest()).toBe(0);
    const body = { body: { markdown: 'Afterwards' } };
    expect((await content.call('postCommentInChangeRequest', commenter, { ...inRequest(), body })).status).toBe(200);
    expect(await openInRequest()).toBe(1);
  });
});

describe('with the life of the space', () => {
  test('the same bytes after a rebuild', async () => {
    await content.settled();
    const before = await everything();
    await content.service.rebuild(['comments']);
    expect(await everything()).toBe(before);
  });

  test('they go, come back with it, and are purged with it', async () => {
    const counted = await openInSpace();
    const { count } = await list();
    await content.call('deleteSpaceById', admin, inSpace());
    expect((await content.call('listCommentsInSpace', admin, inSpace())).status).toBe(404);
    await content.call('restoreSpace', admin, inSpace());
    expect([await openInSpace(), (await list()).count]).toEqual([counted, count]);
    await content.call('deleteSpaceById', admin, inSpace());
    content.ports.clock.advance(8 * 24 * 60 * 60 * 1000);
    const comments = await content.ports.readStore.collection(commentsCollection, 1);
    const replies = await content.ports.readStore.collection(repliesCollection, 1);
    expect(await comments.count({ spaceId })).toBeGreaterThan(20);
    await until('its comments are gone', async () => (await comments.count({ spaceId })) === 0);
    await until('replies too', async () => (await replies.count()) === 0);
  });
});
