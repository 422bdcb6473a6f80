import { ChangeRequestReviewStatus, ChangeRequestStatus, MemberRole } from '@gitbook/api';
import { describe, expect, test } from '@jest/globals';
import { everyBlock } from './every-block.ts';
import type { World } from './world.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** What `format=markdown` adds to a page; the types of the client do not say it. */
export const markdownOf = (page: object): string =>
  'markdown' in page && typeof page.markdown === 'string' ? page.markdown : '';

/** Change requests: content, changes, review, merge, and the revisions that come of them. */
export const changeRequests = (world: () => World): void =>
  describe('change requests', () => {
    let space: string;
    let change: string;
    let page: string;
    let file: string;

    test('opened, edited, read', async () => {
      const { admin, organization } = world();
      const { orgs, spaces } = admin.api;
      space = (await orgs.createSpace(organization, { title: 'Reviewed', empty: true })).data.id;
      const opened = await spaces.createChangeRequest(space, { subject: 'Pages' });
      expect(opened.status).toBe(201);
      change = opened.data.id;
      const { data } = await spaces.updateChangeRequestContent(
        space,
        change,
        {
          changes: [
            {
              operation: 'insert_files',
              files: [{ name: 'dot.png', contentType: 'image/png', base64: pixel, ref: 'dot' }],
            },
            { operation: 'insert_page', ref: 'one', document: { markdown: '# One\n\n![dot](dot)\n\nText.' } },
            { operation: 'insert_page', title: 'Below', into: 'one', document: { markdown: 'See [one](./one.md).' } },
          ],
        },
        { compat: false },
      );
      expect(data).toMatchObject({ changes: [{ ref: 'one' }, {}], insertedFiles: [{ name: 'dot.png' }] });
      const { pages } = (await spaces.listPagesInChangeRequest(space, change)).data;
      expect(pages).toMatchObject([{ title: 'One', pages: [{ title: 'Below' }] }]);
      page = pages[0]?.id ?? '';
      const files = (await spaces.listFilesInChangeRequestById(space, change)).data.items;
      expect(files).toMatchObject([{ name: 'dot.png', contentType: 'image/png', dimensions: { width: 1, height: 1 } }]);
      file = files[0]?.id ?? '';
      expect((await spaces.getFileInChangeRequestById(space, change, file)).data.id).toBe(file);
      const read = await spaces.getPageInChangeRequestById(space, change, page, { format: 'markdown' });
      expect(markdownOf(read.data)).toContain('Text.');
      const below = await spaces.getPageInChangeRequestByPath(space, change, encodeURIComponent('one/below'));
      expect(below.data).toMatchObject({ title: 'Below', path: 'one/below' });
      const revision = (await spaces.getRevisionOfChangeRequestById(space, change)).data;
      expect(revision).toMatchObject({ object: 'revision', pages: [{ id: page }], files: [{ id: file }] });
      const { changes } = (await spaces.getChangeRequestChanges(space, change)).data;
      expect(changes.map(({ type }) => type).sort()).toEqual(['file_created', 'page_created', 'page_created']);
      expect((await spaces.listPages(space)).data.pages).toEqual([]);
    });

    test('named, described, listed in its space and its organization', async () => {
      const { admin, ada, organization } = world();
      const { spaces, orgs } = admin.api;
      const { data } = await spaces.updateChangeRequestById(space, change, { subject: 'Two pages' });
      expect(data.subject).toBe('Two pages');
      expect((await spaces.getChangeRequestById(space, String(data.number))).data).toMatchObject({ id: change });
      const inSpace = async (status: ChangeRequestStatus) =>
        (await spaces.listChangeRequestsForSpace(space, { status })).data.items.map(({ id }) => id);
      expect(await inSpace(data.status)).toEqual([change]);
      expect(await inSpace(ChangeRequestStatus.Merged)).toEqual([]);
      const query = { status: [ChangeRequestStatus.Open, ChangeRequestStatus.Draft], space };
      const listed = async (more: object = {}) =>
        (await orgs.listChangeRequestsForOrganization(organization, { ...query, ...more })).data.items.map(
          ({ id }) => id,
        );
      expect([await listed(), await listed({ creator: ada.id })]).toEqual([[change], []]);
    });

    test('reviewers asked, reviews given, contributors named; the rules of the space hold', async () => {
      const { admin, ada, bob } = world();
      const { spaces } = admin.api;
      await spaces.updateSpaceById(space, {
        mergeRules: { type: 'rules', rules: [{ rule: 'require_one_of_specific_reviewers', users: [ada.id] }] },
      });
      await spaces.updateChangeRequestById(space, change, { status: ChangeRequestStatus.Open });
      await expect(spaces.mergeChangeRequest(space, change)).rejects.toMatchObject({ code: expect.any(Number) });
      await spaces.inviteToSpace(space, { role: MemberRole.Review, users: [ada.id, bob.id] });
      const asked = await spaces.requestReviewersForChangeRequest(space, change, { users: [ada.id, bob.id] });
      expect(asked.data.users?.map((it) => 'user' in it && it.user.id).sort()).toEqual([ada.id, bob.id].sort());
      expect((await spaces.removeRequestedReviewerFromChangeRequest(space, change, bob.id)).status).toBe(205);
      const requested = (await spaces.getRequestedReviewersByChangeRequestId(space, change)).data.items;
      expect(requested).toMatchObject([{ kind: 'user', user: { id: ada.id }, requestedBy: { id: admin.id } }]);
      const given = await ada.api.spaces.submitChangeRequestReview(space, change, {
        status: ChangeRequestReviewStatus.Approved,
        comment: { markdown: 'Good.' },
      });
      expect(given.status).toBe(201);
      const review = (await spaces.getChangeRequestReviewById(space, change, given.data.id, { format: 'markdown' }))
        .data;
      expect(review).toMatchObject({
        ...{ status: 'approved', outdated: false, reviewer: { id: ada.id } },
        comment: { body: { markdown: 'Good.' } },
      });
      const reviews = async (outdated: boolean) =>
        (await spaces.getReviewsByChangeRequestId(space, change, { outdated })).data.items.map(({ id }) => id);
      expect([await reviews(false), await reviews(true)]).toEqual([[review.id], []]);
      const contributors = (await spaces.getContributorsByChangeRequestId(space, change)).data.items;
      expect(contributors).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ actionType: 'edit', user: expect.objectContaining({ id: admin.id }) }),
        ]),
      );
    });

    test('merged; another one is updated with it; revisions tell of it', async () => {
      const { spaces } = world().admin.api;
      const second = (await spaces.createChangeRequest(space, { subject: 'Later' })).data.id;
      await spaces.updateChangeRequestContent(space, second, {
        changes: [{ operation: 'insert_page', title: 'Later', document: { markdown: 'Later.' } }],
      });
      const merged = await spaces.mergeChangeRequest(space, change);
      expect(merged.data.result).toBe('merge');
      const { data } = await spaces.getChangeRequestById(space, change);
      expect(data).toMatchObject({ status: 'merged', revisionMerged: merged.data.revision });
      expect((await spaces.getChangeRequestById(space, second)).data.outdated).toBe(true);
      expect((await spaces.updateChangeRequest(space, second)).data.result).toBe('update');
      expect((await spaces.getChangeRequestById(space, second)).data.outdated).toBe(false);
      const { pages } = (await spaces.listPagesInChangeRequest(space, second)).data;
      expect(pages.map(({ title }) => title).sort()).toEqual(['Later', 'One']);

      const revision = merged.data.revision;
      const told = (await spaces.getRevisionSemanticChanges(space, revision)).data;
      expect(told).toMatchObject({ mergedFrom: { id: change } });
      expect(told.changes.map(({ type }) => type).sort()).toEqual(['file_created', 'page_created', 'page_created']);
      expect((await spaces.getRevisionById(space, revision)).data).toMatchObject({
        id: revision,
        pages: [{ id: page }],
      });
    });

    test('the content of the space and of the revision is the same', async () => {
      const { spaces } = world().admin.api;
      const current = (await spaces.getCurrentRevision(space)).data;
      const revision = current.id;
      expect((await spaces.listPages(space)).data).toEqual(
        (await spaces.listPagesInRevisionById(space, revision)).data,
      );
      const idsOf = (files: readonly { readonly id: string }[]): readonly string[] => files.map(({ id }) => id);
      expect(idsOf((await spaces.listFiles(space)).data.items)).toEqual([file]);
      expect(idsOf((await spaces.listFilesInRevisionById(space, revision)).data.items)).toEqual([file]);
      const stored = (await spaces.getFileById(space, file)).data;
      expect((await spaces.getFileInRevisionById(space, revision, file)).data).toMatchObject({
        id: file,
        name: 'dot.png',
      });
      const download = await fetch(stored.downloadURL);
      expect(Buffer.from(await download.arrayBuffer()).toString('base64')).toBe(pixel);

      const markdown = { format: 'markdown' } as const;
      const byId = (await spaces.getPageById(space, page, markdown)).data;
      expect(markdownOf(byId)).toContain('Text.');
      expect(markdownOf((await spaces.getPageInRevisionById(space, revision, page, markdown)).data)).toBe(
        markdownOf(byId),
      );
      const path = encodeURIComponent('one/below');
      expect((await spaces.getPageByPath(space, path)).data).toMatchObject({ title: 'Below' });
      expect((await spaces.getPageInRevisionByPath(space, revision, path)).data).toMatchObject({ title: 'Below' });
      const document = (await spaces.getPageDocumentInRevisionById(space, revision, page)).data;
      expect(document).toMatchObject({ object: 'document', nodes: expect.any(Array) });
      const documentId = 'documentId' in byId ? byId.documentId : undefined;
      expect((await spaces.getDocumentById(space, documentId ?? '')).data).toEqual(document);
    });

    test('documents of all kinds of blocks are what the client describes', async () => {
      const { spaces } = world().admin.api;
      const opened = (await spaces.createChangeRequest(space, { subject: 'Blocks' })).data.id;
      await spaces.updateChangeRequestContent(space, opened, {
        changes: [{ operation: 'insert_page', title: 'Blocks', document: { markdown: everyBlock(file) } }],
      });
      const { data } = await spaces.getRevisionOfChangeRequestById(space, opened);
      const blocks = data.pages.find(({ title }) => title === 'Blocks');
      const documentId = blocks !== undefined && 'documentId' in blocks ? (blocks.documentId ?? '') : '';
      const { nodes } = (await spaces.getDocumentById(space, documentId)).data;
      const kinds = new Set(nodes.map(({ type }) => type));
      expect(kinds.size).toBeGreaterThan(20);
    });

    test('links and what links here, by the older client', async () => {
      const { admin } = world();
      const older = admin.api146.spaces;
      const links = (await older.listSpaceLinks(space)).data;
      expect(links.stats).toMatchObject({ total: 2, broken: { total: 0 } });
      expect(links.items.map(({ targetReference }) => targetReference?.kind).sort()).toEqual(['file', 'page']);
      const ofPage = (await older.listPageLinksInSpace(space, page)).data;
      expect(ofPage.items).toMatchObject([{ status: 'ok', targetReference: { kind: 'file', file: { id: file } } }]);
      const toPage = (await older.listSpacePageBacklinks(space, page)).data.items;
      expect(toPage).toMatchObject([{ kind: 'page', page: { title: 'Below' } }]);
      const toFile = (await older.listSpaceFileBacklinks(space, file)).data.items;
      expect(toFile).toMatchObject([{ kind: 'page', page: { id: page } }]);
    });
  });
