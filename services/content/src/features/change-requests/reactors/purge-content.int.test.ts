import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { edit, member, openSpace, publish, startContent, type TestContent } from '../../../testing.ts';
import { linksProjection } from '../../links/index.ts';
import { documentsProjection, revisionsProjection } from '../../revisions/index.ts';
import { changeRequestsProjection } from '../read-model/projection.ts';

const admin = member('admin');
const day = 86_400_000;
let content: TestContent;

const watched = [revisionsProjection([]), documentsProjection([]), changeRequestsProjection, linksProjection([], '')];

/** Ids of everything that is stored, by collection. */
const stored = async (): Promise<Readonly<Record<string, readonly string[]>>> => {
  const { readStore } = content.ports;
  const generations = await readStore.collection<{ live: Record<string, { generation: number }> }>({
    name: 'content.generations',
    version: 1,
    indexes: [],
  });
  const live = (await generations.get('pointer'))?.document.live ?? {};
  const found: Record<string, readonly string[]> = {};
  for (const { name, collections } of watched) {
    for (const spec of collections) {
      const ids: string[] = [];
      const rows = await readStore.collection<object>(spec, live[name]?.generation ?? 0);
      for await (const { id } of rows.scan()) ids.push(id);
      found[spec.name] = ids.sort();
    }
  }
  return found;
};

const fill = async (title: string): Promise<string> => {
  const spaceId = await openSpace(content, admin, { title });
  const pages = Array.from({ length: 60 }, (_, n) => ({
    operation: 'insert_page',
    title: `Page ${n}`,
    document: { markdown: `## Part\n\n[site](https://example.com/${title}/${n}) [gone](/pages/gone${n}) text ${n}.` },
  }));
  const file = { name: 'a.txt', contentType: 'text/plain', base64: Buffer.from('hello').toString('base64') };
  await publish(content, admin, spaceId, [{ operation: 'insert_files', files: [file] }, ...pages.slice(0, 40)]);
  await publish(content, admin, spaceId, pages.slice(40));
  const changeRequestId = await edit(content, admin, spaceId, [
    { operation: 'insert_page', title: 'Draft', document: { markdown: 'Not yet.' } },
  ]);
  // A branch with more events than its space.
  for (let n = 0; n < 40; n += 1) {
    const changes = [{ operation: 'insert_page', title: `Draft ${n}`, document: { markdown: `Draft ${n}.` } }];
    const params = { spaceId, changeRequestId };
    expect((await content.call('updateChangeRequestContent', admin, { params, body: { changes } })).status).toBe(200);
  }
  return spaceId;
};

beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

test('nothing of a purged space is stored for reading, before and after a rebuild; others keep theirs', async () => {
  const kept = await fill('kept');
  await content.settled();
  const before = await stored();
  const filled = Object.keys(before).filter((name) => before[name]?.length !== 0);
  expect(filled).toEqual(expect.arrayContaining(['content.revisions', 'content.documents', 'content.change_requests']));
  expect(filled.filter((name) => name.startsWith('content.link'))).toHaveLength(4);
  const gone = await fill('gone');
  await content.settled();
  expect((await stored())['content.links']?.length).toBe(2 * (before['content.links']?.length ?? 0));
  await content.call('deleteSpaceById', admin, { params: { spaceId: gone } });
  content.ports.clock.advance(7 * day);
  await until('the space is purged', async () => {
    const types: string[] = [];
    for await (const event of content.ports.eventStore.readStream(`content.space-${gone}`)) types.push(event.type);
    return types.includes('SpaceContentPurged');
  });
  await content.settled();
  expect(await stored()).toEqual(before);
  await content.service.rebuild();
  await content.settled();
  expect(await stored()).toEqual(before);
  expect((await content.call('listPages', admin, { params: { spaceId: kept } })).body.pages).toHaveLength(60);
});
