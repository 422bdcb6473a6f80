import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';
import { admin, inSpace, insert, spaceWithPages } from './testing.ts';

let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const setBody = (page: string, markdown: string) => ({ operation: 'update_page', page, document: { markdown } });

describe('merging', () => {
  test('puts the edits into the space and is final', async () => {
    const { spaceId, here, a } = await spaceWithPages(content);
    const { id } = await here.open();
    await here.edit(id, [setBody(a, 'Better.'), insert('New')]);
    const merged = await here.merge(id);
    expect(merged).toMatchObject({ status: 200, body: { result: 'merge' } });
    const { body } = await here.get(id);
    expect(body).toMatchObject({
      status: 'merged',
      revisionMerged: merged.body.revision,
      mergedBy: { id: admin.id },
      outdated: false,
    });
    const space = await content.call('getSpaceById', admin, { params: { spaceId } });
    expect(space.body).toMatchObject({ revision: merged.body.revision, changeRequestsOpen: 0 });
    expect((await here.published()).map(({ title }) => title)).toEqual(['A', 'B', 'C', 'New']);
    expect(await here.publishedPage(a)).toMatchObject({ markdown: expect.stringContaining('Better.') });
    expect(await here.merge(id)).toMatchObject({ status: 409, code: 'change_request.merged' });
    expect(await here.update(id)).toMatchObject({ status: 409, code: 'change_request.merged' });
    expect(await here.edit(id, [insert('Late')])).toMatchObject({ status: 409, code: 'change_request.merged' });
    const changes = await content.call('getRevisionSemanticChanges', admin, {
      params: { spaceId, revisionId: merged.body.revision },
    });
    expect(changes.body.mergedFrom).toMatchObject({ id, status: 'merged' });
  });

  test('takes edits of different pages together without a conflict', async () => {
    const { here, a, b } = await spaceWithPages(content);
    const [one, two] = [await here.open(), await here.open()];
    await here.edit(one.id, [setBody(a, 'One.')]);
    await here.edit(two.id, [setBody(b, 'Two.')]);
    await here.merge(one.id);
    expect((await here.get(two.id)).body.outdated).toBe(true);
    expect((await here.merge(two.id)).body.result).toBe('merge');
    expect(await here.publishedPage(a)).toMatchObject({ markdown: expect.stringContaining('One.') });
    expect(await here.publishedPage(b)).toMatchObject({ markdown: expect.stringContaining('Two.') });
  });

  test('with a conflict leaves the space alone, shows both versions in the change request, and can then be merged', async () => {
    const { spaceId, here, a } = await spaceWithPages(content);
    const [one, two] = [await here.open(), await here.open()];
    await here.edit(one.id, [setBody(a, 'The words of one.')]);
    await here.edit(two.id, [setBody(a, 'The words of two.')]);
    const { body: first } = await here.merge(one.id);
    const { body: conflicts } = await here.merge(two.id);
    expect(conflicts.result).toBe('conflicts');
    const space = await content.call('getSpaceById', admin, { params: { spaceId } });
    expect(space.body.revision).toBe(first.revision);
    const { body } = await here.get(two.id);
    expect(body).toMatchObject({
      status: 'open',
      revision: conflicts.revision,
      revisionMergedAncestor: first.revision,
      outdated: false,
    });
    const page = await here.page(two.id, a);
    expect(page.body).toMatchObject({ markdown: expect.stringContaining('The words of one.') });
    expect(page.body).toMatchObject({ markdown: expect.stringContaining('The words of two.') });
    // Repeated, also by a robot, it does not publish the two versions.
    expect((await here.merge(two.id)).body).toEqual(conflicts);
    expect((await here.get(two.id)).body).toEqual(body);
    expect(await here.publishedPage(a)).not.toMatchObject({ markdown: expect.stringContaining('two.') });
    await here.edit(two.id, [insert('Something else')]);
    expect((await here.merge(two.id)).body).toEqual({
      revision: (await here.get(two.id)).body.revision,
      result: 'conflicts',
    });
    await here.edit(two.id, [setBody(a, 'The words of both.')]);
    expect((await here.merge(two.id)).body.result).toBe('merge');
    expect(await here.publishedPage(a)).toMatchObject({ markdown: expect.stringContaining('The words of both.') });
  });

  test('with a conflict waits for each page, also over updates and a restart; a page named without a change is settled', async () => {
    const { spaceId, here: before, a, b } = await spaceWithPages(content);
    const [one, two] = [await before.open(), await before.open()];
    await before.edit(one.id, [setBody(a, 'First of one.'), setBody(b, 'Second of one.')]);
    await before.edit(two.id, [setBody(a, 'First of two.'), setBody(b, 'Second of two.')]);
    await before.merge(one.id);
    expect((await before.merge(two.id)).body.result).toBe('conflicts');
    content = await content.restarted();
    const here = inSpace(content, spaceId);
    await publish(content, admin, spaceId, [insert('Later')]);
    expect((await here.update(two.id)).body.result).toBe('update');
    const { body } = await here.get(two.id);
    const held = { revision: body.revision, result: 'conflicts' };
    expect((await here.merge(two.id)).body).toEqual(held);
    const answer = await here.edit(two.id, [{ operation: 'update_page', page: a }]);
    expect(answer).toMatchObject({ status: 200, body: { revision: body.revision } });
    expect((await here.merge(two.id)).body).toEqual(held);
    await here.edit(two.id, [{ operation: 'delete_page', page: b }]);
    expect((await here.merge(two.id)).body.result).toBe('merge');
    expect(await here.publishedPage(a)).toMatchObject({
      markdown: expect.stringMatching(/First of one[\s\S]*First of two/),
    });
  });

  test('keeps an edited page that the space has deleted', async () => {
    const { here, a } = await spaceWithPages(content);
    const [deleting, editing] = [await here.open(), await here.open()];
    await here.edit(deleting.id, [{ operation: 'delete_page', page: a }]);
    await here.edit(editing.id, [setBody(a, 'Still needed.')]);
    await here.merge(deleting.id);
    expect((await here.merge(editing.id)).body.result).toBe('conflicts');
    expect(await here.page(editing.id, a)).toMatchObject({ status: 200 });
    expect((await here.merge(editing.id)).body.result).toBe('conflicts');
    await here.edit(editing.id, [{ operation: 'update_page', page: a }]);
    expect((await here.merge(editing.id)).body.result).toBe('merge');
    expect(await here.publishedPage(a)).toMatchObject({ markdown: expect.stringContaining('Still needed.') });
  });

  test('20 at once in one space all arrive', async () => {
    const { here } = await spaceWithPages(content);
    const opened = await Promise.all(Array.from({ length: 20 }, () => here.open()));
    await Promise.all(opened.map(({ id, number }) => here.edit(id, [insert(`Page ${number}`)])));
    const merged = await Promise.all(opened.map(({ id }) => here.merge(id)));
    // All add a page at the end; that is no conflict.
    expect(merged.map(({ body }) => body.result)).toEqual(opened.map(() => 'merge'));
    const titles = (await here.published()).map(({ title }) => title).filter((title) => title.startsWith('Page'));
    expect(titles.sort()).toEqual(opened.map(({ number }) => `Page ${number}`).sort());
  });

  test('an archived one and an empty one too; not by those who may only edit', async () => {
    const { spaceId, here } = await spaceWithPages(content);
    const { id } = await here.open();
    expect((await inSpace(content, spaceId, member('edit')).merge(id)).status).toBe(403);
    await here.patch(id, { status: 'archived' });
    expect(await here.edit(id, [insert('No')])).toMatchObject({ status: 409, code: 'change_request.archived' });
    expect((await inSpace(content, spaceId, member('review')).merge(id)).body.result).toBe('merge');
  });

  test('repeated with the same ids answers the same', async () => {
    const { spaceId, here } = await spaceWithPages(content);
    const { id } = await here.open();
    await here.edit(id, [insert('New')]);
    const request = { params: { spaceId, changeRequestId: id }, seed: 'key of a merge' };
    const first = await content.call('mergeChangeRequest', admin, request);
    expect(first.body.result).toBe('merge');
    expect((await content.call('mergeChangeRequest', admin, request)).body).toEqual(first.body);
  });
});

describe('updating', () => {
  test('brings the primary content in; up to date it changes nothing', async () => {
    const { here, a, b } = await spaceWithPages(content);
    const [one, two] = [await here.open(), await here.open()];
    await here.edit(one.id, [setBody(a, 'One.')]);
    await here.edit(two.id, [setBody(b, 'Two.')]);
    const { body: merged } = await here.merge(one.id);
    const { body: updated } = await here.update(two.id);
    expect(updated.result).toBe('update');
    const { body } = await here.get(two.id);
    expect(body).toMatchObject({
      revision: updated.revision,
      revisionMergedAncestor: merged.revision,
      outdated: false,
      status: 'open',
    });
    expect(await here.page(two.id, a)).toMatchObject({ body: { markdown: expect.stringContaining('One.') } });
    expect(await here.page(two.id, b)).toMatchObject({ body: { markdown: expect.stringContaining('Two.') } });
    expect((await here.update(two.id)).body).toEqual({ revision: updated.revision, result: 'update' });
    expect((await here.get(two.id)).body).toEqual(body);
    const { body: changes } = await here.changes(two.id);
    expect(changes.changes.map((change) => change.type)).toEqual(['page_edited']);
  });

  test('reports conflicts and keeps both versions', async () => {
    const { here, a } = await spaceWithPages(content);
    const [one, two] = [await here.open(), await here.open()];
    await here.edit(one.id, [setBody(a, 'The words of one.')]);
    await here.edit(two.id, [setBody(a, 'The words of two.')]);
    await here.merge(one.id);
    expect((await here.update(two.id)).body.result).toBe('conflicts');
    const { body } = await here.page(two.id, a);
    expect(body).toMatchObject({ markdown: expect.stringMatching(/The words of one[\s\S]*The words of two/) });
  });
});

test('a space without pages can be filled', async () => {
  const spaceId = await openSpace(content, admin);
  const here = inSpace(content, spaceId);
  const { id } = await here.open();
  await here.edit(id, [insert('Only')]);
  expect((await here.merge(id)).body.result).toBe('merge');
  expect((await here.published()).map(({ title }) => title)).toEqual(['Only']);
});

test('everything is as it was after a rebuild and after a restart', async () => {
  const { spaceId, here, a } = await spaceWithPages(content);
  const { id } = await here.open({ subject: 'S' });
  await here.edit(id, [setBody(a, 'Edited.'), insert('New')]);
  const read = async (at: TestContent) => {
    const there = inSpace(at, spaceId);
    return [await there.get(id), await there.pages(id), await there.page(id, a), await there.changes(id)];
  };
  const before = await read(content);
  await content.service.rebuild();
  expect(await read(content)).toEqual(before);
  content = await content.restarted();
  expect(await read(content)).toEqual(before);
});
