import { member, openSpace, publish, type TestContent } from '../../testing.ts';

export const admin = member('admin');

/** A page to insert, for tests. */
export const insert = (title: string, more: object = {}, markdown = `Text of ${title}.`) => ({
  operation: 'insert_page',
  title,
  document: { markdown },
  ...more,
});

/** Operations on one space, shortened for tests. */
export const inSpace = (content: TestContent, spaceId: string, as = admin) => {
  const params = (changeRequestId: string) => ({ params: { spaceId, changeRequestId } });
  return {
    open: async (body: object = {}) => {
      const { body: opened } = await content.call('createChangeRequest', as, { params: { spaceId }, body });
      return opened;
    },
    get: (id: string | number) => content.call('getChangeRequestById', as, params(String(id))),
    edit: (id: string, changes: readonly object[], more: object = {}) =>
      content.call('updateChangeRequestContent', as, { ...params(id), body: { changes }, ...more }),
    outcomes: async (id: string, changes: readonly object[]) => {
      const answer = await content.call('updateChangeRequestContent', as, {
        ...params(id),
        query: { compat: false },
        body: { changes },
      });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer));
      return answer.body as Extract<typeof answer.body, { changeRequest: unknown }>;
    },
    patch: (id: string, body: object, more: object = {}) =>
      content.call('updateChangeRequestById', as, { ...params(id), body, ...more }),
    merge: (id: string, more: object = {}) => content.call('mergeChangeRequest', as, { ...params(id), ...more }),
    update: (id: string, more: object = {}) => content.call('updateChangeRequest', as, { ...params(id), ...more }),
    changes: (id: string, query: object = {}) =>
      content.call('getChangeRequestChanges', as, { ...params(id), query: { ...query } }),
    pages: async (id: string) => (await content.call('listPagesInChangeRequest', as, params(id))).body.pages,
    page: (id: string, pageId: string, query: object = {}) =>
      content.call('getPageInChangeRequestById', as, {
        params: { spaceId, changeRequestId: id, pageId },
        query: { ...query },
      }),
    published: async () => (await content.call('listPages', as, { params: { spaceId } })).body.pages,
    publishedPage: async (pageId: string) =>
      (await content.call('getPageById', as, { params: { spaceId, pageId } })).body,
  };
};

/** A space with the pages `a`, `b` and `c`; answers their ids by slug. */
export const spaceWithPages = async (content: TestContent) => {
  const spaceId = await openSpace(content, admin);
  await publish(content, admin, spaceId, [insert('A'), insert('B'), insert('C')]);
  const here = inSpace(content, spaceId);
  const ids: Record<string, string> = {};
  for (const page of await here.published()) if ('slug' in page) ids[page.slug] = page.id;
  return { spaceId, here, a: ids.a ?? '', b: ids.b ?? '', c: ids.c ?? '' };
};

/** A picture of one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
).toString('base64');

/** A change request on the pages `a`, `b` and `c`. */
export const openedOnPages = async (content: TestContent) => {
  const space = await spaceWithPages(content);
  const { id } = await space.here.open();
  const markdown = async (pageId: string) => {
    const { body } = await space.here.page(id, pageId, { 'format.markdown.refs': 'stable' });
    return body.type === 'document' ? (body.markdown ?? '') : '';
  };
  const metadata = async (pageId: string) => (await space.here.page(id, pageId, { format: 'document' })).body;
  return { ...space, id, markdown, metadata };
};
