import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startContent, type TestContent } from '../../testing.ts';
import { insert, openedOnPages, png } from './testing.ts';

let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const opened = () => openedOnPages(content);

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
    const slugs = (await here.pages(id)).map((page) => (!('slug' in page) ? '' : page.slug));
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
      (await here.pages(id)).map((page) => [page.title, !('pages' in page) ? [] : page.pages.map((it) => it.title)]);
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
