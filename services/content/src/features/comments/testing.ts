import { edit, member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const table = `<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>one</td></tr></tbody></table>`;

/** Those who comment in tests. */
export const admin = member('admin');
export const reader = member('read');
export const commenter = member('comment', 'c1');
export const other = member('comment', 'c2');

/** A space with a page, a change request that adds another one, and what tests ask of them. */
export interface Commented {
  readonly content: TestContent;
  readonly spaceId: string;
  readonly pageId: string;
  readonly changeRequestId: string;
  readonly draftPageId: string;
}

/** Starts the service with something to comment on. */
export const startCommented = async (): Promise<Commented> => {
  const content = await startContent();
  const spaceId = await openSpace(content, admin);
  await publish(content, admin, spaceId, [
    { operation: 'insert_page', title: 'One', document: { markdown: `Text of one.\n\n${table}` } },
  ]);
  const { pages } = (await content.call('listPages', admin, { params: { spaceId } })).body;
  const insert = { operation: 'insert_page', title: 'Draft', document: { markdown: 'Draft.' } };
  const changeRequestId = await edit(content, admin, spaceId, [insert]);
  const params = { spaceId, changeRequestId };
  const draft = (await content.call('listPagesInChangeRequest', admin, { params })).body.pages;
  const draftPageId = draft.find(({ title }) => title === 'Draft')?.id ?? '';
  return { content, spaceId, pageId: pages[0]?.id ?? '', changeRequestId, draftPageId };
};

/** Calls on the comments of a space and of its change request. */
export const commentCalls = ({ content, spaceId, changeRequestId }: Commented) => {
  const inSpace = (params: object = {}) => ({ params: { spaceId, ...params } });
  const inRequest = (params: object = {}) => ({ params: { spaceId, changeRequestId, ...params } });
  const list = async (query: object = {}, as = reader) =>
    (await content.call('listCommentsInSpace', as, { ...inSpace(), query: { ...query } })).body;
  const openInSpace = async () => (await content.call('getSpaceById', reader, inSpace())).body.comments;
  const openInRequest = async () => (await content.call('getChangeRequestById', reader, inRequest())).body.comments;
  return {
    inSpace,
    inRequest,
    list,
    openInSpace,
    openInRequest,
    /** Posts a comment, and fails when that is refused. */
    async post(markdown: string, as = commenter, more: object = {}) {
      const body = { body: { markdown }, ...more };
      const answer = await content.call('postCommentInSpace', as, { ...inSpace(), body });
      if (answer.status !== 200) throw new Error(`not posted: ${JSON.stringify(answer)}`);
      return answer.body;
    },
    update: (commentId: string, body: object, as = commenter, more: object = {}) =>
      content.call('updateCommentInSpace', as, { ...inSpace({ commentId }), body, ...more }),
    /** All that is told of comments, as one text. */
    async everything(): Promise<string> {
      const { items } = await list({ limit: 1000 });
      const replies = await Promise.all(
        items.map(({ id: commentId }) => content.call('listCommentRepliesInSpace', reader, inSpace({ commentId }))),
      );
      return JSON.stringify([items, replies, await openInSpace(), await openInRequest()]);
    },
  };
};
