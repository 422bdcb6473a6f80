import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startContent, type TestContent } from '../../testing.ts';
import { insert, spaceWithPages } from './testing.ts';

let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
).toString('base64');

/** A change request on the pages `a`, `b` and `c`. */
const opened = async () => {
  const space = await spaceWithPages(content);
  const { id } = await space.here.open();
  const markdown = async (pageId: string) => {
    const { body } = await space.here.page(id, pageId, { 'format.markdown.refs': 'stable' });
    return body.type === 'document' ? (body.markdown ?? '') : '';
  };
  const metadata = async (pageId: string) => (await space.here.page(id, pageId, { format: 'document' })).body;
  return { ...space, id, markdown, metadata };
};

describe('hostile input is refused by name and leaves nothing', () => {
  const cases: readonly [string, (it: Awaited<ReturnType<typeof opened>>) => object[], string][] = [
    ['an unknown page', () => [{ operation: 'update_page', page: 'nosuchpage' }], 'changes[0].page'],
    ['an unknown page to delete', () => [{ operation: 'delete_page', page: 'nosuchpage' }], 'changes[0].page'],
    ['an unknown page to revert', () => [{ operation: 'revert_page', page: 'nosuchpage' }], 'changes[0].page'],
    ['an unknown parent', () => [insert('X', { into: 'nosuchpage' })], 'changes[0].into'],
    ['a page under itself', ({ a }) => [{ operation: 'update_page', page: a, into: a }], 'changes[0].into'],
    [
      'a page under one below it',
      ({ a, b }) => [
        { operation: 'update_page', page: b, into: a },
        { operation: 'update_page', page: a, into: b },
      ],
      'changes[1].into',
    ],
    [
      'a page deleted before in the batch',
      ({ a }) => [
        { operation: 'delete_page', page: a },
        { operation: 'update_page', page: a, title: 'X' },
      ],
      'changes[1].page',
    ],
    ['a slug that a sibling has', ({ a }) => [{ operation: 'update_page', page: a, slug: 'b' }], 'changes[0].slug'],
    ['a slug that is no segment', () => [insert('X', { slug: '..' })], 'changes[0].slug'],
    ['a name twice', () => [insert('X', { ref: 'x' }), insert('Y', { ref: 'x' })], 'changes[1].ref'],
    ['a name that is a path', () => [insert('X', { ref: 'a' })], 'changes[0].ref'],
    [
      'a move beside a page of the same slug',
      ({ a, b }) => [insert('B', { into: a, slug: 'b' }), { operation: 'update_page', page: b, into: a }],
      'changes[1].into',
    ],
    [
      'a revision of nowhere',
      ({ a }) => [{ operation: 'revert_page', page: a, revision: 'none' }],
      'changes[0].revision',
    ],
    ['a block of nowhere', ({ a }) => [{ operation: 'revert_page', page: a, block: ['none'] }], 'changes[0].block[0]'],
    ['a file from nowhere', () => [{ operation: 'insert_files', files: [{ name: 'x' }] }], 'changes[0].files[0]'],
    [
      'a file from two places',
      () => [{ operation: 'insert_files', files: [{ name: 'x', url: 'https://example.org', base64: png }] }],
      'changes[0].files[0]',
    ],
    [
      'bytes without a type',
      () => [{ operation: 'insert_files', files: [{ name: 'x', base64: png }] }],
      'changes[0].files[0].contentType',
    ],
    ['a heading without end', () => [insert('X', {}, `# ${'x'.repeat(300)}`)], 'changes[0].document'],
  ];
  test.each(cases)('%s', async (_, changes, field) => {
    const it = await opened();
    const before = [await it.here.get(it.id), await it.here.pages(it.id)];
    const refused = await it.here.edit(it.id, [insert('Goes too', { ref: 'innocent' }), ...changes(it)]);
    expect(refused.status).toBe(400);
    const shifted = field.replace(/\[(\d+)\]/, (_match, index: string) => `[${Number(index) + 1}]`);
    expect(refused.body).toMatchObject({ message: expect.stringContaining(shifted) });
    expect([await it.here.get(it.id), await it.here.pages(it.id)]).toEqual(before);
  });

  const shapes: readonly [string, object[]][] = [
    ['no change at all', []],
    ['more than 50', Array.from({ length: 51 }, () => insert('X'))],
    ['an unknown operation', [{ operation: 'format_disk' }]],
    ['a field that is not there', [insert('X', { colour: 'red' })]],
    ['a title that is too long', [insert('x'.repeat(257))]],
    ['a control character', [insert('a\u0000b')]],
    ['a slug with a slash', [insert('X', { slug: 'a/b' })]],
    ['a place below 0', [insert('X', { at: -1 })]],
    ['two bodies', [{ operation: 'insert_page', document: { markdown: '', document: {} } }]],
    ['null for a title', [insert('X', { title: null })]],
  ];
  test.each(shapes)('%s', async (_, changes) => {
    const { here, id } = await opened();
    expect((await here.edit(id, changes)).status).toBe(400);
  });

  test('pages cannot stand too deep, inserted or moved', async () => {
    const { here, id, a, b } = await opened();
    let parent = a;
    for (let depth = 2; depth <= 40; depth += 1) {
      const { changes } = await here.outcomes(id, [insert(`Level ${depth}`, { into: parent })]);
      const [outcome] = changes;
      if (outcome?.object !== 'created_page') throw new Error('nothing was created');
      parent = outcome.page.id;
    }
    expect(await here.edit(id, [insert('Too deep', { into: parent })])).toMatchObject({
      status: 400,
      code: 'content_change.too_deep',
    });
    expect(await here.edit(id, [{ operation: 'update_page', page: a, into: b }])).toMatchObject({
      code: 'content_change.too_deep',
    });
  });

  test('keys that reach into prototypes stay text', async () => {
    const { here, id, a, metadata } = await opened();
    const markdown = '---\n__proto__: {polluted: true}\nconstructor: 1\n---\n\nText.';
    expect((await here.edit(id, [{ operation: 'update_page', page: a, document: { markdown } }])).status).toBe(200);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect((await metadata(a)).title).toBe('A');
  });
});
