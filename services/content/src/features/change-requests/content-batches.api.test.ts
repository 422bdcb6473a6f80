import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startContent, type TestContent } from '../../testing.ts';
import { insert, openedOnPages, png } from './testing.ts';

let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const opened = () => openedOnPages(content);

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
