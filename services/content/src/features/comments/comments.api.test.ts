import { afterAll, describe, expect, test } from '@jest/globals';
import { member } from '../../testing.ts';
import { admin, commentCalls, commenter, other, reader, startCommented } from './testing.ts';

const stranger = member(undefined, 'stranger');

const commented = await startCommented();
const { content, spaceId, pageId, draftPageId } = commented;
const { inSpace, list, openInSpace, post, update, everything } = commentCalls(commented);
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

describe('what was said', () => {
  test('the same bytes after a rebuild', async () => {
    await content.settled();
    const before = await everything();
    await content.service.rebuild(['comments']);
    expect(await everything()).toBe(before);
  });
});
