import type { OperationId } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { edit, member, openSpace, publish, startContent, type TestContent } from './testing.ts';

const admin = member('admin');
let content: TestContent;
let space: string;

const insert = (title: string, markdown: string, more: object = {}) => ({
  operation: 'insert_page',
  title,
  document: { markdown },
  ...more,
});

beforeAll(async () => {
  content = await startContent();
  space = await openSpace(content, admin, { title: 'Rebuilt' });
  await publish(content, admin, space, [
    insert('One', 'See [two](./two.md). Dispatcher.', { ref: 'one' }),
    insert('Two', '## Deep\n\nText of two.', { ref: 'two' }),
    {
      operation: 'insert_files',
      files: [{ name: 'a.txt', contentType: 'text/plain', base64: Buffer.from('hello').toString('base64') }],
    },
  ]);
  await edit(content, admin, space, [insert('Draft', 'Not yet.')]);
  await content.call('duplicateSpace', admin, { params: { spaceId: space } });
  await content.call('updateSpaceById', admin, { params: { spaceId: space }, body: { emoji: '🔁' } });
  const gone = await openSpace(content, admin, { title: 'Gone' });
  await content.call('deleteSpaceById', admin, { params: { spaceId: gone } });
});
afterAll(() => content.stop());

/** Every read that there is, as text. */
const everything = async (): Promise<Readonly<Record<string, string>>> => {
  const seen: Record<string, string> = {};
  const read = async <K extends OperationId>(operation: K, params: Record<string, string>, query: object = {}) => {
    const answer = await content.call(operation, admin, { params, query: { ...query } });
    seen[`${operation} ${JSON.stringify(params)} ${JSON.stringify(query)}`] = JSON.stringify(answer);
    return answer.body;
  };
  const { items } = await read('listSpacesInOrganizationById', { organizationId: 'o1' });
  for (const { id: spaceId } of items) {
    await read('getSpaceById', { spaceId });
    const current = await read('getCurrentRevision', { spaceId });
    await read('listFiles', { spaceId });
    for (const { id: fileId } of current.files) await read('getFileById', { spaceId, fileId });
    for (const { id: pageId } of current.pages)
      for (const format of ['markdown', 'document']) await read('getPageById', { spaceId, pageId }, { format });
    await read('searchSpaceContent', { spaceId }, { query: 'dispatcher' });
    const requests = await read('listChangeRequestsForSpace', { spaceId });
    for (const { id: changeRequestId } of requests.items) {
      await read('getChangeRequestById', { spaceId, changeRequestId });
      await read('getRevisionOfChangeRequestById', { spaceId, changeRequestId });
      await read('listPagesInChangeRequest', { spaceId, changeRequestId });
    }
  }
  await read('searchOrganizationContent', { organizationId: 'o1' }, { query: 'text' });
  return seen;
};

describe('after a rebuild', () => {
  test('every answer has the same bytes, search included', async () => {
    await content.settled();
    const before = await everything();
    expect(Object.keys(before).length).toBeGreaterThan(20);
    const { events } = await content.service.rebuild();
    expect(events).toBeGreaterThan(5);
    await content.settled();
    expect(await everything()).toEqual(before);
    await content.service.rebuild(['search']);
    await content.settled();
    expect(await everything()).toEqual(before);
  });

  test('and after a restart, with the search index lost', async () => {
    const before = await everything();
    content = await content.restarted({ withoutIndex: true });
    await content.settled();
    expect(await everything()).toEqual(before);
  });
});
