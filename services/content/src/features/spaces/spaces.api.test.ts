import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identityOf, member, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const creator = member('create');
const reader = member('read');
const outsider = member(undefined, 'outsider');
let content: TestContent;
beforeAll(async () => {
  content = await startContent({ services: identityOf({ o1: { u1: { role: 'read', teams: [] } } }, []) });
});
afterAll(() => content.stop());

const create = (body?: object, as = admin) =>
  content.call('createSpace', as, { params: { organizationId: 'o1' }, ...(body ? { body } : {}) });
const get = (spaceId: string, as = admin) => content.call('getSpaceById', as, { params: { spaceId } });
const patch = (spaceId: string, body: object, as = admin, ifMatch?: string) =>
  content.call('updateSpaceById', as, { params: { spaceId }, body, ...(ifMatch ? { ifMatch } : {}) });
const idOf = async (body?: object): Promise<string> => (await create(body)).body.id ?? '';

describe('creating spaces', () => {
  test('without a body: untitled, with one page, at its own address', async () => {
    const created = await create();
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toMatchObject({
      object: 'space',
      title: 'Untitled',
      emoji: '',
      visibility: 'private',
      organization: 'o1',
      mergeRules: { type: 'inherit' },
      defaultLevel: 'inherit',
      comments: 0,
      changeRequests: 0,
      changeRequestsOpen: 0,
      changeRequestsDraft: 0,
    });
    expect(created.location).toBe(`https://docs.example.org/v1/spaces/${id}`);
    expect(created.body.urls.location).toBe(created.location);
    const read = await get(id);
    expect(read.body).toEqual(created.body);
    expect(read.etag).toBe(created.etag);
    const pages = await content.call('listPages', admin, { params: { spaceId: id } });
    expect(pages.body.pages).toHaveLength(1);
  });

  test('with everything, and with no page at all', async () => {
    const full = { title: 'Handbook', emoji: '📘', language: 'pt-br', editMode: 'live', empty: true };
    const created = await create(full, creator);
    const { empty: _, ...settings } = full;
    expect(created.body).toMatchObject(settings);
    const pages = await content.call('listPages', admin, { params: { spaceId: created.body.id } });
    expect(pages.body).toEqual({ pages: [] });
  });

  test('the same request with the same key makes one space', async () => {
    const once = { params: { organizationId: 'o1' }, seed: 'a secret seed' };
    const first = await content.call('createSpace', admin, once);
    expect((await content.call('createSpace', admin, once)).body).toEqual(first.body);
  });

  test('takes the role create, and membership to know the organization', async () => {
    for (const role of ['read', 'comment', 'edit', 'review', null] as const)
      expect((await create({}, member(role))).status).toBe(403);
    expect((await create({}, outsider)).status).toBe(404);
  });

  test('refuses a collection that is not there, and what the contract does not know', async () => {
    expect((await create({ parent: 'c1' })).status).toBe(404);
    expect((await create({ title: 'x'.repeat(51) })).code).toBe('contract');
    expect((await create({ visibility: 'public' })).code).toBe('contract');
    expect((await create({ empty: false })).code).toBe('contract');
  });
});

describe('settings', () => {
  test('change what is given, and nothing else', async () => {
    const id = await idOf({ title: 'Before', emoji: '🐢' });
    const changed = await patch(id, { title: 'After', editMode: 'live', language: 'de' });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ title: 'After', emoji: '🐢', editMode: 'live', language: 'de' });
    expect((await get(id)).body).toEqual(changed.body);
    const rules = { type: 'rules', rules: [{ rule: 'require_specific_reviewers', users: ['u1'] }] };
    expect((await patch(id, { mergeRules: rules })).body.mergeRules).toEqual(rules);
    expect((await patch(id, {})).body.title).toBe('After');
  });

  test('an emoji or a picture: one takes the other away, null takes both', async () => {
    const id = await idOf({ emoji: '🐢' });
    const picture = await patch(id, { icon: 'https://example.org/a.png' });
    expect(picture.body).toMatchObject({ emoji: '', urls: { icon: 'https://example.org/a.png' } });
    const emoji = await patch(id, { emoji: '🦊' });
    expect(emoji.body.emoji).toBe('🦊');
    expect(emoji.body.urls.icon).toBeUndefined();
    expect((await patch(id, { emoji: null, icon: null })).body.emoji).toBe('');
    expect((await patch(id, { emoji: 'a', icon: 'https://example.org/a.png' })).code).toBe('space.emoji_and_icon');
  });

  test('If-Match keeps changes apart', async () => {
    const created = await create({ title: 'One' });
    const { id } = created.body;
    const second = await patch(id, { title: 'Two' }, admin, created.etag);
    expect(second.status).toBe(200);
    expect((await patch(id, { title: 'Three' }, admin, created.etag)).status).toBe(412);
    expect((await patch(id, { title: 'Three' }, admin, 'nonsense')).status).toBe(412);
    expect((await patch(id, { title: 'Three' }, admin, second.etag)).status).toBe(200);
    expect((await patch(id, { title: 'Four' }, admin, '*')).body.title).toBe('Four');
  });

  test('twenty at once lose nothing', async () => {
    const id = await idOf({ title: 'Start' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => patch(id, at % 2 ? { title: `T${at}` } : { emoji: `e${at}` })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const changes: string[] = [];
    for await (const event of content.ports.eventStore.readStream(`content.space-${id}`))
      if (event.type === 'SpaceSettingsChanged') changes.push(JSON.stringify(event.data));
    expect(new Set(changes).size).toBe(20);
    const last = (await get(id)).body;
    expect(last.title).toMatch(/^T\d+$/);
    expect(last.emoji).toMatch(/^e\d+$/);
  });

  test('only administrators', async () => {
    const id = await idOf();
    expect((await patch(id, { title: 'x' }, creator)).status).toBe(403);
    expect((await patch(id, { title: 'x' }, outsider)).status).toBe(404);
  });

  test('a locked space cannot be edited by anybody', async () => {
    const id = await idOf({ editMode: 'locked' });
    const { body } = await get(id);
    expect(body.permissions).toMatchObject({ admin: true, edit: false, merge: false, review: true });
    const opened = await content.call('createChangeRequest', admin, { params: { spaceId: id }, body: {} });
    expect(opened).toMatchObject({ status: 403, code: 'space.locked' });
    await patch(id, { editMode: 'live' });
    expect((await get(id)).body.permissions.edit).toBe(true);
  });
});

describe('reading spaces', () => {
  test('permissions follow the role, and strangers see nothing', async () => {
    const id = await idOf();
    expect((await get(id, reader)).body.permissions).toMatchObject({ view: true, comment: false, edit: false });
    expect((await get(id, member('comment'))).body.permissions).toMatchObject({ comment: true, edit: false });
    expect((await get(id, member('review'))).body.permissions).toMatchObject({ merge: true, admin: false });
    expect((await get(id, outsider)).status).toBe(404);
    expect((await get(id, member(null))).status).toBe(404);
    expect((await get('nothing-of-this-id')).status).toBe(404);
  });

  test('the default level decides for members', async () => {
    const id = await idOf();
    await patch(id, { defaultLevel: null });
    expect((await get(id, creator)).status).toBe(404);
    expect((await get(id, admin)).body.defaultLevel).toBeNull();
    await patch(id, { defaultLevel: 'comment' });
    expect((await get(id, creator)).body.permissions).toMatchObject({ comment: true, edit: false });
  });

  test('change requests are counted at once', async () => {
    const id = await idOf();
    const open = (subject: string) =>
      content.call('createChangeRequest', admin, { params: { spaceId: id }, body: { subject } });
    const first = await open('one');
    await open('two');
    expect((await get(id)).body).toMatchObject({ changeRequests: 2, changeRequestsOpen: 2, changeRequestsDraft: 0 });
    const params = { spaceId: id, changeRequestId: first.body.id };
    await content.call('updateChangeRequestById', admin, { params, body: { status: 'draft' } });
    expect((await get(id)).body).toMatchObject({ changeRequests: 2, changeRequestsOpen: 1, changeRequestsDraft: 1 });
    await content.call('updateChangeRequestById', admin, { params, body: { status: 'archived' } });
    expect((await get(id)).body).toMatchObject({ changeRequests: 2, changeRequestsOpen: 1, changeRequestsDraft: 0 });
  });
});

describe('listing spaces', () => {
  const other = (role: 'admin' | 'read' | null) => ({
    ...member(role),
    organizations: { o2: { role, teams: [] } },
  });
  const list = (as: ReturnType<typeof other>, query: object = {}) =>
    content.call('listSpacesInOrganizationById', as, { params: { organizationId: 'o2' }, query: { ...query } });

  beforeAll(async () => {
    for (let at = 0; at < 7; at += 1) {
      content.ports.clock.advance(1000);
      const { body } = await content.call('createSpace', other('admin'), {
        params: { organizationId: 'o2' },
        body: { title: `Space ${at}`, empty: true },
      });
      if (at % 3 === 2) await patch(body.id, { defaultLevel: null }, other('admin'));
    }
  });

  test('the oldest first, in pages, only what the caller may see', async () => {
    const all = await list(other('admin'));
    expect(all.body.count).toBe(7);
    expect(all.body.items.map((space) => space.title)).toEqual([0, 1, 2, 3, 4, 5, 6].map((at) => `Space ${at}`));
    const seen = (await list(other('read'))).body;
    expect(seen.items.map((space) => space.title)).toEqual([0, 1, 3, 4, 6].map((at) => `Space ${at}`));
    expect(seen.count).toBe(5);
    expect(seen.items.every((space) => space.permissions.view && !space.permissions.edit)).toBe(true);

    const titles: string[] = [];
    let page: string | undefined;
    do {
      const { body } = await list(other('read'), { limit: 2, ...(page ? { page } : {}) });
      titles.push(...body.items.map((space): string => space.title ?? ''));
      page = body.next?.page;
    } while (page);
    expect(titles).toEqual([0, 1, 3, 4, 6].map((at) => `Space ${at}`));
    expect((await list(other('admin'), { limit: 0 })).body).toEqual({ count: 7, items: [] });
  });

  test('guests see none, strangers not even the organization', async () => {
    expect((await list(other(null))).body).toEqual({ count: 0, items: [] });
    expect((await list(member('admin') as ReturnType<typeof other>)).status).toBe(404);
  });

  test('cursors of other lists, other callers and other people are refused', async () => {
    const page = (await list(other('admin'), { limit: 2 })).body.next?.page ?? '';
    const elsewhere = await content.call('listSpacesInOrganizationById', admin, {
      params: { organizationId: 'o1' },
      query: { page },
    });
    expect(elsewhere).toMatchObject({ status: 400, code: 'cursor.invalid' });
    for (const forged of ['x', `x${page}`, page.replace('.', ''), 'W10.AAAAAAAAAAAAAAAA'])
      expect((await list(other('admin'), { page: forged })).status).toBe(400);
  });
});
