import type { RevisionPageDocument } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const duplicate = (spaceId: string, as = admin) => content.call('duplicateSpace', as, { params: { spaceId } });
const pagesOf = async (spaceId: string): Promise<readonly RevisionPageDocument[]> =>
  (await content.call('listPages', admin, { params: { spaceId } })).body.pages as RevisionPageDocument[];
const markdownOf = async (spaceId: string, pageId: string): Promise<string> => {
  const { body } = await content.call('getPageById', admin, { params: { spaceId, pageId } });
  return (body as RevisionPageDocument).markdown ?? '';
};

describe('duplicating a space', () => {
  test('gives all of the content in a space of its own', async () => {
    const source = await openSpace(content, admin, { title: 'Handbook', emoji: '📘' });
    await publish(content, admin, source, [
      { operation: 'insert_page', title: 'One', ref: 'one', document: { markdown: 'See [two](./two.md).' } },
      { operation: 'insert_page', title: 'Two', ref: 'two', document: { markdown: 'Back to [one](./one.md).' } },
      {
        operation: 'insert_files',
        files: [{ name: 'a.txt', contentType: 'text/plain', base64: Buffer.from('hello').toString('base64') }],
      },
    ]);
    const copy = await duplicate(source);
    expect(copy.status).toBe(201);
    expect(copy.location).toBe(copy.body.urls.location);
    expect(copy.body).toMatchObject({ title: 'Handbook (copy)', emoji: '📘', changeRequests: 0 });
    const [one, two] = await pagesOf(copy.body.id);
    expect([one?.title, two?.title]).toEqual(['One', 'Two']);
    expect(await markdownOf(copy.body.id, one?.id ?? '')).toContain('[two](two.md)');
    const files = await content.call('listFiles', admin, { params: { spaceId: copy.body.id } });
    expect(files.body.items.map(({ name, size }) => ({ name, size }))).toEqual([{ name: 'a.txt', size: 5 }]);

    const originals = await pagesOf(source);
    expect(one?.documentId).not.toBe(originals[0]?.documentId);
    await publish(content, admin, copy.body.id, [
      { operation: 'update_page', page: one?.id, document: { markdown: 'Changed in the copy.' } },
    ]);
    expect(await markdownOf(source, originals[0]?.id ?? '')).toContain('See [two]');
    await content.call('deleteSpaceById', admin, { params: { spaceId: source } });
    expect(await markdownOf(copy.body.id, one?.id ?? '')).toContain('Changed in the copy.');
  });

  test('the title stays within its limit, whole characters', async () => {
    const source = await openSpace(content, admin, { title: '👩‍👩‍👧'.repeat(6) });
    const { body } = await duplicate(source);
    expect(body.title.length).toBeLessThanOrEqual(50);
    expect(body.title).toMatch(/^(👩‍👩‍👧)+ \(copy\)$/u);
  });

  test('takes the right to see the one and to create the other', async () => {
    const source = await openSpace(content, admin);
    expect((await duplicate(source, member('create'))).status).toBe(201);
    expect((await duplicate(source, member('review'))).status).toBe(403);
    expect((await duplicate(source, member(undefined, 'stranger'))).status).toBe(404);
  });
});
