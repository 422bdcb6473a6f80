import { type Running, startProduct } from '@bindery/testing/product';
import { ChangeRequestStatus, GitBookAPI } from '@gitbook/api';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** The whole story of issue "Foundation", told by the unmodified public client (`@gitbook/api` 0.202.0). */
describe('the public client works unchanged', () => {
  let product: Running;
  let api: GitBookAPI;
  let organization: string;
  let space: string;

  beforeAll(async () => {
    product = await startProduct();
    api = new GitBookAPI({ endpoint: product.url, authToken: product.token });
  });
  afterAll(async () => {
    await product.stop();
  });

  const restart = async (): Promise<void> => {
    const { dataDir, token } = product;
    await product.stop('SIGKILL');
    product = await startProduct({ dataDir, token });
    api = new GitBookAPI({ endpoint: product.url, authToken: token });
  };

  test('it finds itself, its user and its organization', async () => {
    const information = await api.request<{ version: string; build: string }>({
      path: '/',
      method: 'GET',
      format: 'json',
      secure: true,
    });
    expect(information.data.version).toMatch(/^\d+\.\d+\.\d+/);
    const me = await api.user.getAuthenticatedUser();
    expect(me.data.object).toBe('user');
    const organizations = await api.orgs.listOrganizationsForAuthenticatedUser();
    expect(organizations.data.items).toHaveLength(1);
    organization = organizations.data.items[0]?.id ?? '';
    const members = await api.orgs.listMembersInOrganizationById(organization);
    expect(members.data.items.map((member) => [member.id, member.role])).toEqual([[me.data.id, 'admin']]);
  });

  test('it makes a space', async () => {
    const created = await api.orgs.createSpace(organization, { title: 'Handbook', emoji: '1f4d6', empty: true });
    expect(created.status).toBe(201);
    space = created.data.id;
    const again = await api.spaces.getSpaceById(space);
    expect(again.data).toMatchObject({ object: 'space', title: 'Handbook', organization, changeRequests: 0 });
    const pages = await api.spaces.listPages(space);
    expect(pages.data.pages).toEqual([]);
  });

  test('it writes pages in a change request, sees the changes, merges and finds the pages', async () => {
    const created = await api.spaces.createChangeRequest(space, { subject: 'First pages' });
    expect(created.data).toMatchObject({ number: 1, subject: 'First pages' });
    const change = created.data.id;
    const edited = await api.spaces.updateChangeRequestContent(
      space,
      change,
      {
        changes: [
          {
            operation: 'insert_page',
            ref: 'start',
            document: { markdown: '# Getting started\n\nInstall it, then read [the guide](./guide.md).' },
          },
          {
            operation: 'insert_page',
            ref: 'guide',
            document: {
              markdown:
                '---\ndescription: How to use it\n---\n\n# Guide\n\n{% hint style="info" %}\nCafé crème über alles 東京\n{% endhint %}',
            },
          },
        ],
      },
      { compat: false },
    );
    const outcome = edited.data as unknown as { changes: { ref: string; page: { id: string } }[] };
    expect(outcome.changes.map((one) => one.ref)).toEqual(['start', 'guide']);

    const changes = await api.spaces.getChangeRequestChanges(space, change);
    expect(changes.data.changes.map((one) => one.type)).toEqual(['page_created', 'page_created']);
    expect((await api.spaces.listPages(space)).data.pages).toEqual([]);

    const merged = await api.spaces.mergeChangeRequest(space, change);
    expect(merged.data.result).toBe('merge');
    const pages = await api.spaces.listPages(space);
    expect(pages.data.pages.map((page) => page.title)).toEqual(['Getting started', 'Guide']);

    const start = await api.spaces.getPageByPath(space, 'getting-started', { format: 'markdown' });
    expect(start.data).toMatchObject({ type: 'document', title: 'Getting started' });
    expect((start.data as unknown as { markdown: string }).markdown).toContain('[the guide](guide.md)');
    const guide = await api.spaces.getPageById(space, outcome.changes[1]?.page.id ?? '', { format: 'document' });
    expect(guide.data).toMatchObject({
      description: 'How to use it',
      document: { object: 'document', nodes: [{ type: 'hint', data: { style: 'info' } }] },
    });

    const request = await api.spaces.getChangeRequestById(space, '1');
    expect(request.data).toMatchObject({ id: change, status: 'merged', revisionMerged: merged.data.revision });
  });

  test('it searches with prefixes, without diacritics and in Japanese', async () => {
    for (const query of ['guid', 'cafe', 'UBER', '東京', 'install read']) {
      const found = await api.spaces.searchSpaceContent(space, { query });
      expect([query, found.data.items.length > 0]).toEqual([query, true]);
    }
    const everywhere = await api.orgs.searchOrganizationContent(organization, { query: 'guide' });
    expect(everywhere.data.items[0]).toMatchObject({ id: space, title: 'Handbook' });
    expect(everywhere.data.items[0]?.pages[0]?.title).toBe('Guide');
  });

  test('two change requests on different blocks of one page both arrive', async () => {
    const page = (await api.spaces.getPageByPath(space, 'getting-started')).data.id;
    const write = async (markdown: string): Promise<string> => {
      const { data } = await api.spaces.createChangeRequest(space, { subject: 'Edit' });
      await api.spaces.updateChangeRequestContent(space, data.id, {
        changes: [{ operation: 'update_page', page, document: { markdown } }],
      });
      return data.id;
    };
    const base = '# Getting started\n\nOne.\n\nTwo.\n\nThree.';
    await api.spaces.mergeChangeRequest(space, await write(base));
    const [left, right] = [
      await write(base.replace('One.', 'One, by left.')),
      await write(base.replace('Three.', 'Three, by right.')),
    ];
    await api.spaces.mergeChangeRequest(space, left);
    expect((await api.spaces.getChangeRequestById(space, right)).data.outdated).toBe(true);
    const update = await api.spaces.updateChangeRequest(space, right);
    expect(update.data.result).toBe('update');
    expect((await api.spaces.getChangeRequestById(space, right)).data.outdated).toBe(false);
    await api.spaces.mergeChangeRequest(space, right);
    const merged = (await api.spaces.getPageById(space, page, { format: 'markdown' })).data as unknown as {
      markdown: string;
    };
    expect(merged.markdown).toContain('One, by left.');
    expect(merged.markdown).toContain('Three, by right.');
  });

  test('the same block on both sides is a conflict: nothing is lost and nothing is published', async () => {
    const page = (await api.spaces.getPageByPath(space, 'guide')).data.id;
    const write = async (text: string): Promise<string> => {
      const { data } = await api.spaces.createChangeRequest(space, { subject: text });
      await api.spaces.updateChangeRequestContent(space, data.id, {
        changes: [{ operation: 'update_page', page, document: { markdown: `# Guide\n\n${text}` } }],
      });
      return data.id;
    };
    const [left, right] = [await write('The left version.'), await write('The right version.')];
    await api.spaces.mergeChangeRequest(space, left);
    const result = await api.spaces.mergeChangeRequest(space, right);
    expect(result.data.result).toBe('conflicts');
    const published = (await api.spaces.getPageById(space, page, { format: 'markdown' })).data as unknown as {
      markdown: string;
    };
    expect(published.markdown).not.toContain('right');
    const both = (await api.spaces.getPageInChangeRequestById(space, right, page, { format: 'markdown' }))
      .data as unknown as { markdown: string };
    expect(both.markdown).toContain('The left version.');
    expect(both.markdown).toContain('The right version.');
    expect((await api.spaces.getChangeRequestById(space, right)).data.status).toBe('open');
  });

  test('everything is there after kill -9', async () => {
    const before = {
      space: (await api.spaces.getSpaceById(space)).data,
      content: (await api.spaces.getCurrentRevision(space)).data,
      requests: (await api.spaces.listChangeRequestsForSpace(space, { status: ChangeRequestStatus.Merged })).data,
    };
    await restart();
    const after = {
      space: (await api.spaces.getSpaceById(space)).data,
      content: (await api.spaces.getCurrentRevision(space)).data,
      requests: (await api.spaces.listChangeRequestsForSpace(space, { status: ChangeRequestStatus.Merged })).data,
    };
    const withoutPort = (value: unknown): string =>
      JSON.stringify(value)
        .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, 'host')
        .replaceAll(/(\?|&)(token|signature)=[^"&]+/g, '');
    expect(withoutPort(after)).toBe(withoutPort(before));
    expect((await api.spaces.searchSpaceContent(space, { query: 'install' })).data.items).toHaveLength(0);
    expect((await api.spaces.searchSpaceContent(space, { query: 'left' })).data.items.length).toBeGreaterThan(0);
  });

  test('it duplicates, deletes and restores', async () => {
    const copy = await api.spaces.duplicateSpace(space);
    expect(copy.status).toBe(201);
    expect((await api.spaces.listPages(copy.data.id)).data.pages.map((page) => page.title)).toEqual([
      'Getting started',
      'Guide',
    ]);
    expect((await api.spaces.deleteSpaceById(copy.data.id)).status).toBe(205);
    expect((await api.spaces.deleteSpaceById(copy.data.id)).status).toBe(204);
    const listed = await api.orgs.listSpacesInOrganizationById(organization);
    expect(listed.data.items.map((item) => item.id)).not.toContain(copy.data.id);
    const restored = await api.spaces.restoreSpace(copy.data.id);
    expect(restored.data.id).toBe(copy.data.id);
    expect((await api.spaces.listPages(copy.data.id)).data.pages).toHaveLength(2);
  });

  test('errors reach the client with code and words', async () => {
    await expect(api.spaces.getSpaceById('nosuchspace')).rejects.toMatchObject({ code: 404 });
    await expect(api.orgs.createSpace(organization, { title: 'x'.repeat(51) })).rejects.toMatchObject({
      code: 400,
      errorMessage: expect.stringContaining('title'),
    });
    const stranger = new GitBookAPI({ endpoint: product.url, authToken: 'bnd_pat_wrong' });
    await expect(stranger.user.getAuthenticatedUser()).rejects.toMatchObject({ code: 401 });
  });
});
