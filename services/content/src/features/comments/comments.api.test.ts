import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { edit, member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';
import { commentsCollection, repliesCollection } from './read-model/document.ts';

const admin = member('admin');
const reader = member('read');
const commenter = member('comment', 'c1');
const other = member('comment', 'c2');
const stranger = member(undefined, 'stranger');

let content: TestContent;
let spaceId: string;
let pageId: string;
let changeRequestId: string;
let draftPageId: string;

const table = `<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>one</td></tr></tbody></table>`;

const inSpace = (params: object = {}) => ({ params: { spaceId, ...params } });
const inRequest = (params: object = {}) => ({ params: { spaceId, changeRequestId, ...params } });
const post = async (markdown: string, as = commenter, more: object = {}) => {
  const answer = await content.call('postCommentInSpace', as, { ...inSpace(), body: { body: { markdown }, ...more } });
  expect(answer.status).toBe(200);
  return answer.body;
};
const update = (commentId: string, body: object, as = commenter, more: object = {}) =>
  content.call('updateCommentInSpace', as, { ...inSpace({ commentId }), body, ...more });
const list = async (query: object = {}, as = reader) =>
  (await content.call('listCommentsInSpace', as, { ...inSpace(), query: { ...query } })).body;
const openInSpace = async () => (await content.call('getSpaceById', reader, inSpace())).body.comments;
const openInRequest = async () => (await content.call('getChangeRequestById', reader, inRequest())).body.comments;

beforeAll(async () => {
  content = await startContent();
  spaceId = await openSpace(content, admin);
  await publish(content, admin, spaceId, [
    { operation: 'insert_page', title: 'One', document: { markdown: `Text of one.\n\n${table}` } },
  ]);
  const { pages } = (await content.call('listPages', admin, inSpace())).body;
  pageId = pages[0]?.id ?? '';
  const insert = { operation: 'insert_page', title: 'Draft', document: { markdown: 'Draft.' } };
  changeRequestId = await edit(content, admin, spaceId, [insert]);
  const draft = (await content.call('listPagesInChangeRequest', admin, inRequest())).body.pages;
  draftPageId = draft.find(({ title }) => title === 'Draft')?.id ?? '';
});
afterAll(() => content.stop());

describe('a comment on a space', () => {
  test('says what was written, in both forms', async () => {
    const markdown = '# Not a title\n\n* one\n* *two*  \n\n---\nx: 1\n---';
    const comment = await post(markdown);
    expect(comment).toMatchObject({
      object: 'comment',
      postedBy: { id: 'c1' },
      body: { markdown },
      status: 'open',
      replies: 0,
      target: { space: spaceId },
      permissions: { view: true, edit: true, reply: true, delete: true },
    });
    expect(comment.target.changeRequest).toBeUndefined();
    const asDocument = await content.call('getCommentInSpace', reader, {
      ...inSpace({ commentId: comment.id }),
      query: { format: 'document' },
    });
    expect(asDocument.body.body).toMatchObject({ document: { nodes: [{ type: 'heading-1' }, {}, {}, {}] } });
    expect(asDocument.body.permissions).toEqual({ view: true, edit: false, reply: false, delete: false });
    const { body } = asDocument.body;
    const sent = await content.call('postCommentInSpace', commenter, { ...inSpace(), body: { body } });
    expect(sent.body.body).toMatchObject({ markdown: expect.stringContaining('Not a title') });
    const empty = await content.call('postCommentInSpace', commenter, { ...inSpace(), body: { body: {} } });
    expect(empty.body.body).toEqual({ markdown: '' });
    const location = `https://docs.example.org/v1/spaces/${spaceId}/comments/${comment.id}`;
    expect(comment.urls.location).toBe(location);
  });

  test('is about a page, a block or a cell that must be there', async () => {
    const page = await content.call('getPageById', reader, { ...inSpace({ pageId }), query: { format: 'document' } });
    const { nodes = [] } = page.body.type === 'document' ? (page.body.document ?? {}) : {};
    const block = nodes.find(({ type }) => type === 'table');
    if (block?.type !== 'table' || block.key === undefined) throw new Error('no table');
    const [record = ''] = Object.keys(block.data.records);
    const [definition = ''] = Object.keys(block.data.definition);
    const tableCell = { record, definition };
    const comment = await post('Here', commenter, { page: pageId, node: block.key, tableCell });
    expect(comment.target).toEqual({
      space: spaceId,
      revision: (await content.call('getSpaceById', reader, inSpace())).body.revision,
      page: { id: pageId },
      node: { id: block.key },
      tableCell,
    });
    expect((await post('Here', commenter, { page: pageId, tableCell })).target.tableCell).toEqual(tableCell);
    const bad: readonly (readonly [object, string])[] = [
      [{ page: 'nowhere' }, 'body.page'],
      [{ page: draftPageId }, 'body.page'],
      [{ node: block.key }, 'body.node'],
      [{ page: pageId, node: 'nokey' }, 'body.node'],
      [{ tableCell }, 'body.tableCell'],
      [{ page: pageId, tableCell: { record: '__proto__', definition } }, 'body.tableCell'],
      [{ page: pageId, node: nodes[0]?.key, tableCell }, 'body.tableCell'],
      [{ page: `${pageId}\u0000` }, 'page'],
      [{ extra: 1 }, 'extra'],
    ];
    for (const [target, field] of bad) {
      const body = { body: { markdown: 'Here' }, ...target };
      const refused = await content.call('postCommentInSpace', commenter, { ...inSpace(), body });
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(field)]);
    }
  });

  test('is nowhere for strangers and closed to readers', async () => {
    const { id: commentId } = await post('Private');
    for (const [as, read, write] of [
      [stranger, 404, 404],
      [reader, 200, 403],
    ] as const) {
      const one = inSpace({ commentId });
      const body = { body: { markdown: 'x' } };
      expect((await content.call('getCommentInSpace', as, one)).status).toBe(read);
      expect((await content.call('listCommentsInSpace', as, inSpace())).status).toBe(read);
      expect((await content.call('postCommentInSpace', as, { ...inSpace(), body })).status).toBe(write);
      expect((await update(commentId, { addedReactions: ['👍'] }, as)).status).toBe(write);
      expect((await content.call('deleteCommentInSpace', as, one)).status).toBe(write);
      expect((await content.call('postCommentReplyInSpace', as, { ...one, body })).status).toBe(write);
    }
  });

  test('is changed by its author and administrators, deleted likewise', async () => {
    const { id } = await post('Mine');
    const body = { body: { markdown: 'Changed' } };
    expect(await update(id, body, other)).toMatchObject({ status: 403, code: 'comment.author_needed' });
    const liked = await update(id, { addedReactions: ['👍'] }, other);
    expect(liked.body.editedAt).toBeUndefined();
    const mine = await update(id, body);
    expect(mine.body).toMatchObject({ body: { markdown: 'Changed' }, postedBy: { id: 'c1' } });
    expect(mine.body.editedAt).toBeDefined();
    expect((await update(id, { body: { markdown: 'By admin' } }, admin)).body).toMatchObject({
      postedBy: { id: 'c1' },
    });
    const one = inSpace({ commentId: id });
    expect((await content.call('deleteCommentInSpace', other, one)).status).toBe(403);
    expect((await content.call('deleteCommentInSpace', admin, one)).status).toBe(205);
    expect((await content.call('deleteCommentInSpace', admin, one)).status).toBe(204);
    expect((await content.call('getCommentInSpace', admin, one)).status).toBe(404);
    expect((await update(id, body)).status).toBe(404);
  });

  test('is changed at the version that was seen', async () => {
    const { id } = await post('First');
    const seen = await content.call('getCommentInSpace', reader, inSpace({ commentId: id }));
    const ifMatch = seen.etag ?? '';
    expect((await update(id, { body: { markdown: 'Second' } }, commenter, { ifMatch })).status).toBe(200);
    expect((await update(id, { body: { markdown: 'Third' } }, commenter, { ifMatch })).status).toBe(412);
    expect((await update(id, {}, commenter, { ifMatch: 'x' })).status).toBe(412);
    const remove = { ...inSpace({ commentId: id }), ifMatch };
    expect((await content.call('deleteCommentInSpace', commenter, remove)).status).toBe(412);
  });

  test('sent twice it is there once', async () => {
    const before = (await list()).count ?? 0;
    const request = { ...inSpace(), body: { body: { markdown: 'Once' } }, seed: 'secret seed' };
    const [first, second] = [
      await content.call('postCommentInSpace', commenter, request),
      await content.call('postCommentInSpace', commenter, request),
    ];
    expect(second.body.id).toBe(first.body.id);
    expect((await list()).count).toBe(before + 1);
    const reply = {
      ...inSpace({ commentId: first.body.id }),
      body: { body: { markdown: 'Once' } },
      seed: 'other seed',
    };
    const replies = [
      await content.call('postCommentReplyInSpace', commenter, reply),
      await content.call('postCommentReplyInSpace', commenter, reply),
    ];
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
  });

  test('is bounded, whatever it is made of', async () => {
    const documentOf = (text: string) => ({
      object: 'document',
      data: {},
      nodes: [
        {
          object: 'block',
          type: 'paragraph',
          isVoid: false,
          nodes: [{ object: 'text', leaves: [{ object: 'leaf', text, marks: [] }] }],
        },
      ],
    });
    const bodies = [
      { markdown: 'x'.repeat(20_001) },
      { markdown: '\n'.repeat(1000) },
      { document: documentOf('x'.repeat(100_001)) },
      { markdown: 'null \u0000' },
      { markdown: 'a', document: documentOf('b') },
      'text',
      null,
    ];
    const started = performance.now();
    for (const body of bodies) {
      const answer = await content.call('postCommentInSpace', commenter, { ...inSpace(), body: { body } });
      expect([200, 400]).toContain(answer.status);
    }
    for (const deep of ['>'.repeat(10_000), '<b>'.repeat(2000)])
      expect([200, 400]).toContain(
        (await content.call('postCommentInSpace', commenter, { ...inSpace(), body: { body: { markdown: deep } } }))
          .status,
      );
    expect(performance.now() - started).toBeLessThan(5000);
    const strange = 'a\u202Ed\r\ne 👩‍👩‍👧‍👦 e\u0301 \uFFFE \u0007';
    const { id } = await post(strange);
    const read = async () => (await content.call('getCommentInSpace', reader, inSpace({ commentId: id }))).body.body;
    expect(await read()).toEqual({ markdown: strange });
    for (const emoji of ['a', 'x'.repeat(51), '', '👍👍', '\u0000', 'd800'])
      expect((await update(id, { addedReactions: [emoji] })).status).toBe(400);
    expect((await update(id, { addedReactions: Array.from({ length: 21 }, () => '👍') })).status).toBe(400);
  });
});

describe('reactions and status', () => {
  test('one of a kind for each user, as the character', async () => {
    const { id } = await post('Like me');
    await update(id, { addedReactions: ['👍', '1f44d', '2764'] });
    await update(id, { addedReactions: ['👍'] });
    const two = await update(id, { addedReactions: ['👍'], removedReactions: ['❤️'] }, other);
    expect(two.body.reactions).toEqual([
      expect.objectContaining({ emoji: '👍', count: 2 }),
      expect.objectContaining({ emoji: '❤️', count: 1 }),
    ]);
    expect(two.body.reactions[0]?.users).toMatchObject([{ user: { id: 'c1' } }, { user: { id: 'c2' } }]);
    const less = await update(id, { removedReactions: ['👍', '❤'] });
    expect(less.body.reactions).toEqual([expect.objectContaining({ emoji: '👍', count: 1 })]);
  });

  test('everybody at once', async () => {
    const { id } = await post('All together');
    const people = Array.from({ length: 30 }, (_, index) => member('comment', `person${index}`));
    const answers = await Promise.all(people.map((as) => update(id, { addedReactions: ['🎉'], resolved: true }, as)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await content.call('getCommentInSpace', reader, inSpace({ commentId: id }));
    expect(body.reactions[0]?.count).toBe(30);
    expect(body.status).toBe('resolved');
    expect(body).toMatchObject({ resolvedBy: { id: expect.stringMatching(/^person/) } });
    const opened = await update(id, { resolved: false });
    expect([opened.body.status, opened.body.resolvedAt, opened.body.resolvedBy]).toEqual([
      'open',
      undefined,
      undefined,
    ]);
  });

  test('open ones are counted right after each write, by many hands', async () => {
    const before = await openInSpace();
    const posted = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { id } = await post(`Count ${index}`);
        const seen = await openInSpace();
        expect(seen).toBeGreaterThan(before);
        return id;
      }),
    );
    expect(await openInSpace()).toBe(before + 20);
    await Promise.all(posted.slice(0, 5).map((id) => update(id, { resolved: true })));
    expect(await openInSpace()).toBe(before + 15);
    await update(posted[0] ?? '', { resolved: false });
    expect(await openInSpace()).toBe(before + 16);
    await Promise.all(
      posted.map((commentId) => content.call('deleteCommentInSpace', commenter, inSpace({ commentId }))),
    );
    expect(await openInSpace()).toBe(before);
  });
});

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
    const everything = async () => {
      const { items } = await list({ limit: 1000 });
      const replies = await Promise.all(
        items.map(({ id: commentId }) => content.call('listCommentRepliesInSpace', reader, inSpace({ commentId }))),
      );
      return JSON.stringify([items, replies, await openInSpace(), await openInRequest()]);
    };
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
