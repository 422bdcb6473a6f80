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

describe('insert_page', () => {
  test('answers what became of each page, in the order of the batch', async () => {
    const { here, id, spaceId } = await opened();
    const answer = await here.outcomes(id, [insert('One', { ref: 'one' }), insert('Two', { at: 0 })]);
    expect(answer.changes).toMatchObject([
      { object: 'created_page', ref: 'one', page: { object: 'page' } },
      { object: 'created_page', page: { object: 'page' } },
    ]);
    const [first] = answer.changes;
    expect(JSON.stringify(first)).toContain(`/v1/spaces/${spaceId}/change-requests/${id}/content/page/`);
    expect(answer.changeRequest).toMatchObject({ id, object: 'change-request' });
    expect(answer).not.toHaveProperty('insertedFiles');
    expect((await here.pages(id)).map(({ title }) => title)).toEqual(['Two', 'A', 'B', 'C', 'One']);
  });

  test('front matter and the leading heading win over the fields', async () => {
    const { here, id, metadata } = await opened();
    const source = '---\ndescription: From matter\nicon: star\nhidden: true\nodd: 1\n---\n# From heading\n\nText.';
    const { changes } = await here.outcomes(id, [
      insert('From field', { description: 'From field', emoji: 'x', condition: 'visitor.ok' }, source),
    ]);
    const [outcome] = changes;
    if (outcome?.object !== 'created_page') throw new Error('nothing was created');
    expect(await metadata(outcome.page.id)).toMatchObject({
      title: 'From heading',
      slug: 'from-heading',
      description: 'From matter',
      icon: 'star',
      emoji: 'x',
      hidden: true,
      condition: 'visitor.ok',
    });
  });

  test('makes slugs from titles unique; refuses a given one that a sibling has', async () => {
    const { here, id, a } = await opened();
    await here.edit(id, [insert('A'), insert('A'), insert('Ünïcode & more'), insert('A', { into: a })]);
    const slugs = (await here.pages(id)).map((page) => (page.type === 'link' ? '' : page.slug));
    expect(slugs).toEqual(['a', 'b', 'c', 'a-1', 'a-2', 'unicode-more']);
    const refused = await here.edit(id, [insert('X'), insert('Y', { slug: 'b' })]);
    expect(refused).toMatchObject({ status: 400, code: 'content_change.slug_taken' });
    expect(refused.body).toMatchObject({ message: expect.stringMatching(/changes\[1\]\.slug.*"b"/) });
    expect((await here.pages(id)).length).toBe(6);
  });
});

describe('addresses that would run something', () => {
  test('are refused in documents, and kept aside in front matter', async () => {
    const { here, id, a, metadata } = await opened();
    const link = (url: string) => ({
      object: 'document' as const,
      data: { schemaVersion: 1 },
      nodes: [
        {
          object: 'block' as const,
          type: 'paragraph' as const,
          nodes: [
            {
              object: 'inline' as const,
              type: 'link' as const,
              data: { ref: { kind: 'url' as const, url } },
              nodes: [{ object: 'text' as const, leaves: [{ object: 'leaf' as const, text: 'x', marks: [] }] }],
            },
          ],
        },
      ],
    });
    const put = (url: string) =>
      here.edit(id, [{ operation: 'update_page', page: a, document: { document: link(url) } } as never]);
    expect(await put(' java\tscript:alert(1)')).toMatchObject({ status: 400, code: 'content_change.unsafe_address' });
    expect(await put('https://example.org/')).toMatchObject({ status: 200 });
    const cover = '---\ncover: javascript:alert(1)\n---\nText.';
    await here.edit(id, [{ operation: 'update_page', page: a, document: { markdown: cover } }]);
    expect(await metadata(a)).not.toHaveProperty('cover');
  });
});

describe('links', () => {
  test('lead to pages of the batch, to pages by path, to files, and elsewhere', async () => {
    const { here, id, a, b, markdown } = await opened();
    await here.edit(id, [insert('Deep', { into: a, slug: 'deep' })]);
    const text = [
      '[ref](./new.md) [ref with anchor](new.md#part) [path](./a/deep.md) [folder](a/README.md) [absolute](/b)',
      '[own](#here) [outside](https://example.org/a.md) [nowhere](./missing.md) [mail](mailto:a@example.org)',
      `[stable](/pages/${b}) ![picture](./shot)`,
    ].join('\n\n');
    const { changes, insertedFiles } = await here.outcomes(id, [
      { operation: 'update_page', page: b, document: { markdown: text } },
      { operation: 'insert_files', files: [{ base64: png, name: 'a.png', contentType: 'image/png', ref: 'shot' }] },
      insert('New', { ref: 'new' }, 'Up to [deep](../a/deep.md) and [b](b.md).'),
    ]);
    const created = changes.find((outcome) => outcome.object === 'created_page');
    if (created?.object !== 'created_page') throw new Error('nothing was created');
    const newId = created.page.id;
    const written = await markdown(b);
    expect(written).toContain(`[ref](/pages/${newId}) [ref with anchor](/pages/${newId}#part)`);
    expect(written).toContain(`[folder](/pages/${a}) [absolute](/pages/${b})`);
    expect(written).toMatch(/\[path\]\(\/pages\/\w+\)/);
    expect(written).toContain('[own](#here)');
    expect(written).toContain('(https://example.org/a.md) [nowhere](./missing.md) [mail](mailto:a@example.org)');
    expect(written).toContain(`[stable](/pages/${b})`);
    expect(written).toContain(`/files/${insertedFiles?.[0]?.id}`);
    expect(await markdown(newId)).toContain(`[b](/pages/${b})`);
  });

  test('come back as they were when a page is read and written again', async () => {
    const { here, id, a, b } = await opened();
    await here.edit(id, [
      insert('Deep', { into: a, slug: 'deep' }, 'To [b](../b.md), [a](README.md).'),
      { operation: 'update_page', page: a, document: { markdown: 'To [deep](a/deep.md), [b](b.md).' } },
    ]);
    const { body } = await here.page(id, a);
    if (body.type !== 'document') throw new Error('not a document');
    const before = (await here.get(id)).body.revision;
    await here.edit(id, [{ operation: 'update_page', page: a, document: { markdown: body.markdown ?? '' } }]);
    expect((await here.get(id)).body.revision).toBe(before);
    expect(body.markdown).toContain('[deep](deep.md)');
    expect((await here.page(id, b)).status).toBe(200);
  });
});

describe('update_page', () => {
  test('changes metadata alone; empty text clears; the slug stays with a new title', async () => {
    const { here, id, a, metadata, markdown } = await opened();
    const before = await markdown(a);
    await here.edit(id, [
      { operation: 'update_page', page: a, title: 'Alpha', emoji: 'x', icon: 'star', condition: 'c' },
    ]);
    expect(await metadata(a)).toMatchObject({ title: 'Alpha', slug: 'a', emoji: 'x', icon: 'star' });
    await here.edit(id, [{ operation: 'update_page', page: a, emoji: '', icon: '', condition: '', slug: '' }]);
    const after = await metadata(a);
    for (const field of ['emoji', 'icon', 'condition']) expect(after).not.toHaveProperty(field);
    expect(after).toMatchObject({ title: 'Alpha', slug: 'alpha' });
    expect((await markdown(a)).replace('# Alpha', '# A')).toBe(before);
  });

  test('moves: into another page, to a place, back to the top', async () => {
    const { here, id, a, b, c } = await opened();
    const shape = async () =>
      (await here.pages(id)).map((page) => [page.title, page.type === 'link' ? [] : page.pages.map((it) => it.title)]);
    await here.edit(id, [{ operation: 'update_page', page: c, into: a }]);
    await here.edit(id, [{ operation: 'update_page', page: b, into: a, at: 0 }]);
    expect(await shape()).toEqual([['A', ['B', 'C']]]);
    await here.edit(id, [{ operation: 'update_page', page: b, at: 1 }]);
    expect(await shape()).toEqual([['A', ['C', 'B']]]);
    await here.edit(id, [{ operation: 'update_page', page: b, into: null, at: 0 }]);
    expect(await shape()).toEqual([
      ['B', []],
      ['A', ['C']],
    ]);
  });

  test('blocks keep their keys, where they are the same', async () => {
    const { here, id, a } = await opened();
    const keys = async () => {
      const { body } = await here.page(id, a, { format: 'document' });
      return body.type === 'document' ? (body.document?.nodes ?? []).map(({ key }) => key) : [];
    };
    const write = (markdown: string) => here.edit(id, [{ operation: 'update_page', page: a, document: { markdown } }]);
    await write('First paragraph of the page.\n\nSecond paragraph of the page.');
    const before = await keys();
    await write('New above.\n\nFirst paragraph of the page, changed.\n\nSecond paragraph of the page.');
    expect((await keys()).slice(1)).toEqual(before);
  });

  test('what changes nothing makes no revision', async () => {
    const { here, id, a } = await opened();
    const before = (await here.get(id)).body;
    expect((await here.edit(id, [{ operation: 'update_page', page: a, title: 'A', at: 0 }])).body).toEqual(before);
  });
});

describe('delete_page and revert_page', () => {
  test('a page goes with everything below it, and comes back', async () => {
    const { here, id, a, b } = await opened();
    await here.edit(id, [{ operation: 'update_page', page: b, into: a }]);
    const { changes } = await here.outcomes(id, [{ operation: 'delete_page', page: a }]);
    expect(changes).toEqual([
      { object: 'deleted_page', page: a },
      { object: 'deleted_page', page: b },
    ]);
    expect((await here.page(id, b)).status).toBe(404);
    const back = await here.outcomes(id, [{ operation: 'revert_page', page: b }]);
    expect(back.changes).toMatchObject([{ object: 'created_page', page: { id: b } }]);
    expect((await here.pages(id)).map(({ title }) => title)).toEqual(['B', 'C']);
  });

  test('deleting and bringing back in one batch leaves everything where it was', async () => {
    const { here, id, a, b } = await opened();
    await here.edit(id, [insert('Deep', { into: b }), insert('Own', { into: b })]);
    await here.edit(id, [{ operation: 'update_page', page: a, into: b, at: 1 }]);
    const shape = (pages: Awaited<ReturnType<typeof here.pages>>): unknown =>
      pages.map((page) => [page.id, 'pages' in page ? shape(page.pages as typeof pages) : []]);
    const before = shape(await here.pages(id));
    const { changes } = await here.outcomes(id, [
      { operation: 'delete_page', page: b },
      { operation: 'revert_page', page: b },
    ]);
    expect(shape(await here.pages(id))).toEqual(before);
    expect(new Set(changes.map(({ object }) => object))).toEqual(new Set(['updated_page']));
    await here.outcomes(id, [{ operation: 'delete_page', page: b }]);
    await here.outcomes(id, [{ operation: 'revert_page', page: b }]);
    expect(JSON.stringify(shape(await here.pages(id)))).not.toContain(a);
  });

  test('a page goes back to its base, or to a revision, whole or block by block', async () => {
    const { here, id, a, markdown } = await opened();
    const write = (text: string) =>
      here.edit(id, [{ operation: 'update_page', page: a, document: { markdown: text } }]);
    const original = await markdown(a);
    await write('One.\n\nTwo.');
    const middle = (await here.get(id)).body.revision;
    const page = await here.page(id, a, { format: 'document' });
    const keys = page.body.type === 'document' ? (page.body.document?.nodes ?? []).map((it) => it.key ?? '') : [];
    await write('One, changed a little.\n\nTwo.');
    await here.edit(id, [{ operation: 'revert_page', page: a, revision: middle, block: [keys[0] ?? ''] }]);
    expect(await markdown(a)).toContain('One.\n\nTwo.');
    await here.edit(id, [{ operation: 'revert_page', page: a }]);
    expect(await markdown(a)).toBe(original);
    await here.edit(id, [{ operation: 'revert_page', page: a, revision: middle }]);
    expect(await markdown(a)).toContain('One.\n\nTwo.');
  });
});

describe('one batch', () => {
  const keysOf = async ({ here, id, a }: Awaited<ReturnType<typeof opened>>) => {
    const { body } = await here.page(id, a, { format: 'document' });
    return body.type === 'document' ? (body.document?.nodes ?? []).map((it) => it.key ?? '') : [];
  };

  test('that reverts a page as a whole goes on from the body it then has', async () => {
    const it = await opened();
    const { here, id, a, markdown } = it;
    const write = (text: string) => ({ operation: 'update_page', page: a, document: { markdown: text } });
    await here.edit(id, [write('One.\n\nTwo.\n\nThree.')]);
    const middle = (await here.get(id)).body.revision;
    const keys = await keysOf(it);
    const whole = { operation: 'revert_page', page: a, revision: middle };
    const changed = write('Quite another text.');

    await here.edit(id, [changed]);
    const [other] = await keysOf(it);
    const block = { operation: 'revert_page', page: a, block: [keys[1] ?? ''] };
    expect((await here.edit(id, [whole, block])).status).toBe(200);
    const atOnce = await markdown(a);
    expect(atOnce).toContain('One.\n\nThree.');
    await here.edit(id, [changed]);
    await here.edit(id, [whole]);
    await here.edit(id, [block]);
    expect(await markdown(a)).toBe(atOnce);

    // A block that only the text before the batch had is not there any more.
    await here.edit(id, [changed]);
    expect(await here.edit(id, [whole, { ...block, block: [other] }])).toMatchObject({
      status: 400,
      code: 'content_change.no_block',
    });

    await here.edit(id, [whole, write('One.\n\nTwo.\n\nThree.\n\nFour.')]);
    expect((await keysOf(it)).slice(0, 3)).toEqual(keys);
    await here.edit(id, [{ operation: 'delete_page', page: a }]);
    await here.edit(id, [whole, write('One.\n\nTwo.')]);
    expect(await keysOf(it)).toEqual(keys.slice(0, 2));
  });

  test('is applied in order and forgets what it made and deleted', async () => {
    const { here, id, a } = await opened();
    const { changes } = await here.outcomes(id, [
      { operation: 'update_page', page: a, title: 'Renamed' },
      { operation: 'delete_page', page: a },
      insert('A', { slug: 'a' }),
    ]);
    expect(changes.map(({ object }) => object)).toEqual(['deleted_page', 'created_page']);
    expect((await here.pages(id)).map(({ title }) => title)).toEqual(['B', 'C', 'A']);
  });

  test('from many at once: all edits are there', async () => {
    const { here, id } = await opened();
    await Promise.all(Array.from({ length: 20 }, (_, index) => here.edit(id, [insert(`Page ${index}`)])));
    const titles = (await here.pages(id)).map(({ title }) => title);
    expect(titles.length).toBe(23);
    expect(new Set(titles).size).toBe(23);
    const { body } = await here.changes(id, { limit: 1000 });
    expect(body.changes.filter(({ type }) => type === 'page_created').length).toBe(20);
  });

  test('of 50 large pages is one revision, cut into events that a store takes', async () => {
    const { here, id, markdown } = await opened();
    const text = `${'A sentence of this page. '.repeat(900)}\n\n`;
    const { changes } = await here.outcomes(
      id,
      Array.from({ length: 50 }, (_, index) => insert(`Large ${index}`, {}, text)),
    );
    expect(changes.length).toBe(50);
    const [, last] = [changes[0], changes.at(-1)];
    if (last?.object !== 'created_page') throw new Error('nothing was created');
    expect(await markdown(last.page.id)).toContain('A sentence of this page.');
    let largest = 0;
    for await (const event of content.ports.eventStore.readStream(`content.changeRequest-${id}`))
      largest = Math.max(largest, JSON.stringify(event.data).length);
    expect(largest).toBeLessThan(1_000_000);
    const before = await here.pages(id);
    content = await content.restarted();
    expect(before.length).toBe(53);
  });
});

describe('what changed', () => {
  test('an edit of what is not listed is no entry', async () => {
    const { here, id, a, b } = await opened();
    await here.edit(id, [
      { operation: 'update_page', page: a, icon: 'star', hidden: true },
      { operation: 'update_page', page: b, icon: 'star', emoji: '1f600' },
    ]);
    const { body } = await here.changes(id, { limit: 1 });
    expect(body).toEqual({ changes: [expect.objectContaining({ type: 'page_edited', page: expect.anything() })] });
    expect(body.changes).toMatchObject([{ page: { id: b }, attributes: { emoji: {} } }]);
  });

  test('is told as people speak of it, up to a limit', async () => {
    const { here, id, a, b, c } = await opened();
    await here.edit(id, [
      insert('New'),
      { operation: 'update_page', page: a, title: 'Alpha', document: { markdown: 'Other text.' } },
      { operation: 'update_page', page: b, into: a },
      { operation: 'delete_page', page: c },
      { operation: 'insert_files', files: [{ base64: png, name: 'a.png', contentType: 'image/png' }] },
    ]);
    const { body } = await here.changes(id);
    expect(body.changes.map(({ type }) => type).sort()).toEqual(
      ['file_created', 'page_created', 'page_deleted', 'page_edited', 'page_moved'].sort(),
    );
    expect(body).not.toHaveProperty('more');
    expect(body.changes.find(({ type }) => type === 'page_edited')).toMatchObject({
      page: { id: a, title: 'Alpha', path: 'a', type: 'document' },
      attributes: {
        title: { before: 'A', after: 'Alpha' },
        document: { before: { object: 'document' }, after: { object: 'document' } },
      },
    });
    const moved = body.changes.find(({ type }) => type === 'page_moved');
    expect(moved).toMatchObject({ page: { id: b, path: 'a/b' }, parent: { after: { id: a } } });
    const some = await here.changes(id, { limit: 2 });
    expect(some.body).toMatchObject({ more: 3 });
    expect(some.body.changes.length).toBe(2);
  });
});

test('changes: each deleted page is named once, whatever it stood below', async () => {
  const { here, id: first, a, b, c } = await opened();
  await here.edit(first, [
    { operation: 'update_page', page: b, into: a },
    { operation: 'update_page', page: c, into: b },
  ]);
  await here.merge(first);
  const { id } = await here.open();
  await here.edit(id, [
    { operation: 'update_page', page: b, into: null },
    { operation: 'delete_page', page: c },
    { operation: 'delete_page', page: a },
  ]);
  const { body } = await here.changes(id);
  expect(body.changes.map((it) => [it.type, 'page' in it ? it.page.id : '']).sort()).toEqual(
    [
      ['page_deleted', a],
      ['page_deleted', c],
      ['page_moved', b],
    ].sort(),
  );
  expect(body).not.toHaveProperty('more');
  expect((await here.changes(id, { limit: 1 })).body.more).toBe(2);
});
