import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';
import { admin, inSpace, insert, spaceWithPages } from './testing.ts';

let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

describe('a new change request', () => {
  test('is open, starts from the head, and is found by id and by number', async () => {
    const spaceId = await openSpace(content, admin);
    const answer = await content.call('createChangeRequest', admin, {
      params: { spaceId },
      body: { subject: 'First', color: 'blue' },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      object: 'change-request',
      number: 1,
      status: 'open',
      subject: 'First',
      createdBy: { id: admin.id },
      space: spaceId,
      comments: 0,
      outdated: false,
    });
    expect(answer.body.revision).toBe(answer.body.revisionInitial);
    expect(answer.body).not.toHaveProperty('revisionMergedAncestor');
    expect(answer.location).toBe(answer.body.urls.location);
    const here = inSpace(content, spaceId);
    expect((await here.get(answer.body.id)).body).toEqual(answer.body);
    const byNumber = await here.get(1);
    expect(byNumber.body).toEqual(answer.body);
    expect(byNumber.etag).toBe(answer.etag);
  });

  test('needs no body, and no subject', async () => {
    const spaceId = await openSpace(content, admin);
    const answer = await content.call('createChangeRequest', admin, { params: { spaceId } });
    expect(answer).toMatchObject({ status: 201, body: { subject: '', number: 1 } });
  });

  test('from an unknown template is refused and takes no number', async () => {
    const spaceId = await openSpace(content, admin);
    const body = { template: { id: 'no-such-template' } };
    const refused = await content.call('createChangeRequest', admin, { params: { spaceId }, body });
    expect(refused).toMatchObject({ status: 400, code: 'template.unknown' });
    expect((await inSpace(content, spaceId).open()).number).toBe(1);
  });

  test('20 at a time get the numbers 1 to 20', async () => {
    const spaceId = await openSpace(content, admin);
    const here = inSpace(content, spaceId);
    const opened = await Promise.all(Array.from({ length: 20 }, (_, index) => here.open({ subject: `${index}` })));
    expect(opened.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(new Set(opened.map(({ id }) => id)).size).toBe(20);
  });

  test('opened again with the same ids (a repeated request) is the same one', async () => {
    const spaceId = await openSpace(content, admin);
    const request = { params: { spaceId }, body: { subject: 'Once' }, seed: 'an idempotency key' };
    const first = await content.call('createChangeRequest', admin, request);
    const second = await content.call('createChangeRequest', admin, request);
    expect(second.body).toEqual(first.body);
    expect((await inSpace(content, spaceId).open()).number).toBe(2);
  });

  test('is nowhere for readers, other organizations, unknown ids and numbers', async () => {
    const spaceId = await openSpace(content, admin);
    await inSpace(content, spaceId).open();
    const open = (as: typeof admin) => content.call('createChangeRequest', as, { params: { spaceId } });
    expect((await open(member('comment'))).status).toBe(403);
    expect((await open(member(undefined))).status).toBe(404);
    expect((await open(member('edit'))).status).toBe(201);
    for (const id of ['99', '0', 'nosuchid', '1e0']) expect((await inSpace(content, spaceId).get(id)).status).toBe(404);
    const other = await openSpace(content, admin);
    const { id } = await inSpace(content, spaceId).open();
    expect((await inSpace(content, other).get(id)).status).toBe(404);
  });
});

describe('changing it', () => {
  test('subject, description, links and status; the same again changes nothing', async () => {
    const spaceId = await openSpace(content, admin);
    const here = inSpace(content, spaceId);
    const { id } = await here.open();
    const description = { object: 'document', data: {}, nodes: [] };
    const body = {
      subject: 'Subject',
      description,
      links: [{ ref: { kind: 'url', url: 'https://example.org/1' }, title: 'One' }],
      status: 'draft',
    };
    const changed = await here.patch(id, body);
    expect(changed).toMatchObject({ status: 200, body: { subject: 'Subject', description, status: 'draft' } });
    expect(changed.body.links).toMatchObject([{ ref: { kind: 'url', url: 'https://example.org/1' }, title: 'One' }]);
    const again = await here.patch(id, { ...body, links: changed.body.links });
    expect(again.body).toEqual(changed.body);
    expect(again.etag).toBe(changed.etag);
    expect((await here.get(id)).body).toEqual(changed.body);
    expect((await here.patch(id, { links: [] })).body).not.toHaveProperty('links');
  });

  test('by its author and by editors, not by others', async () => {
    const spaceId = await openSpace(content, admin);
    const author = member('edit', 'author');
    const { id } = await inSpace(content, spaceId, author).open();
    expect((await inSpace(content, spaceId, member('review')).patch(id, { subject: 'x' })).status).toBe(200);
    expect((await inSpace(content, spaceId, member('read')).patch(id, { subject: 'y' })).status).toBe(403);
    expect((await inSpace(content, spaceId, member('read', 'author')).patch(id, { subject: 'z' })).status).toBe(200);
    expect((await inSpace(content, spaceId, member(undefined)).patch(id, { subject: 'y' })).status).toBe(404);
  });

  test('If-Match protects from changes that were not seen', async () => {
    const spaceId = await openSpace(content, admin);
    const here = inSpace(content, spaceId);
    const { id } = await here.open();
    const { etag = '' } = await here.get(id);
    expect((await here.patch(id, { subject: 'x' }, { ifMatch: etag })).status).toBe(200);
    expect((await here.patch(id, { subject: 'y' }, { ifMatch: etag })).status).toBe(412);
    expect((await here.patch(id, { subject: 'y' }, { ifMatch: 'nonsense' })).status).toBe(412);
    expect((await here.patch(id, { subject: 'y' }, { ifMatch: '*' })).status).toBe(200);
    expect((await here.edit(id, [insert('P')], { ifMatch: etag })).status).toBe(412);
  });

  test('If-Match protects merging and updating as well', async () => {
    const { here, spaceId } = await spaceWithPages(content);
    const { id } = await here.open();
    const { etag: early = '' } = await here.get(id);
    await here.edit(id, [insert('Edited')]);
    for (const ifMatch of [early, '999999', 'nonsense']) {
      expect((await here.merge(id, { ifMatch })).status).toBe(412);
      // There is nothing to bring in yet: refused all the same.
      expect((await here.update(id, { ifMatch })).status).toBe(412);
    }
    await publish(content, admin, spaceId, [insert('Elsewhere')]);
    expect((await here.update(id, { ifMatch: early })).status).toBe(412);
    const { etag: second = '' } = await here.get(id);
    expect((await here.update(id, { ifMatch: second })).status).toBe(200);
    expect((await here.merge(id, { ifMatch: second })).status).toBe(412);
    expect((await here.get(id)).body.status).not.toBe('merged');
    const { etag: third = '' } = await here.get(id);
    const merge = { ifMatch: third, seed: 'the same key' };
    const merged = await here.merge(id, merge);
    expect([merged.status, merged.body.result]).toEqual([200, 'merge']);
    expect((await here.merge(id, merge)).body).toEqual(merged.body);
    const other = (await here.open()).id;
    await here.edit(other, [insert('Any')]);
    expect([
      (await here.update(other, { ifMatch: '*' })).status,
      (await here.merge(other, { ifMatch: '*' })).status,
    ]).toEqual([200, 200]);
  });

  test('statuses that are refused are named', async () => {
    const { here } = await spaceWithPages(content);
    const { id } = await here.open();
    await here.merge(id);
    const refused = await here.patch(id, { status: 'open' });
    expect(refused).toMatchObject({ status: 409, code: 'change_request.status_refused' });
    expect(refused.body).toMatchObject({ message: expect.stringContaining('from merged to open') });
    expect((await here.patch(id, { status: 'merged' })).status).toBe(400);
  });
});

describe('lists', () => {
  test('show open ones by default, newest first, and page without gaps or repeats', async () => {
    const spaceId = await openSpace(content, admin);
    const here = inSpace(content, spaceId);
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      content.ports.clock.advance(1000);
      ids.push((await here.open({ subject: `${index}` })).id);
    }
    await here.patch(ids[0] ?? '', { status: 'draft' });
    const list = (query: object) =>
      content.call('listChangeRequestsForSpace', admin, { params: { spaceId }, query: { ...query } });
    const first = await list({ limit: 4 });
    expect(first.body.count).toBe(6);
    const second = await list({ limit: 4, page: first.body.next?.page });
    expect([...first.body.items, ...second.body.items].map(({ id }) => id)).toEqual(ids.slice(1).reverse());
    expect(second.body.next).toBeUndefined();
    expect((await list({ status: 'draft' })).body.items.map(({ id }) => id)).toEqual([ids[0]]);
    expect((await list({ limit: 0 })).body).toEqual({ count: 6, items: [] });
    expect((await list({ status: 'draft', page: first.body.next?.page })).status).toBe(400);
    expect((await list({ creator: admin.id })).body.count).toBe(6);
    expect((await list({ creator: 'nobody' })).body.count).toBe(0);
    expect((await list({ requestedReviewer: admin.id })).body).toEqual({ count: 0, items: [] });
    expect((await list({ orderBy: 'createdAt', limit: 1 })).body.items[0]?.id).toBe(ids[6]);
  });

  test('of an organization: only spaces that the caller may see, filtered by status, space and contributor', async () => {
    const open = await openSpace(content, admin);
    const closed = await openSpace(content, admin);
    await content.call('updateSpaceById', admin, { params: { spaceId: closed }, body: { defaultLevel: null } });
    const visible = await inSpace(content, open).open();
    const hidden = await inSpace(content, closed).open();
    const editor = member('edit', 'contributor');
    await inSpace(content, open, editor).edit(visible.id, [insert('P')]);
    const list = async (as: typeof admin, query: object = {}) => {
      const request = { params: { organizationId: 'o1' }, query: { limit: 1000, ...query } };
      const { body } = await content.call('listChangeRequestsForOrganization', as, request);
      return body.items.map(({ id }) => id);
    };
    expect(await list(member('read'))).toContain(visible.id);
    expect(await list(member('read'))).not.toContain(hidden.id);
    expect(await list(admin)).toEqual(expect.arrayContaining([visible.id, hidden.id]));
    expect(await list(admin, { space: closed })).toEqual([hidden.id]);
    expect(await list(member('read'), { space: closed })).toEqual([]);
    expect(await list(admin, { contributor: editor.id })).toEqual([visible.id]);
    await inSpace(content, open).patch(visible.id, { status: 'archived' });
    expect(await list(admin)).not.toContain(visible.id);
    expect(await list(admin, { status: ['archived', 'open'], space: open })).toEqual([visible.id]);
    await content.call('deleteSpaceById', admin, { params: { spaceId: closed } });
    expect(await list(admin)).not.toContain(hidden.id);
    const foreign = await content.call('listChangeRequestsForOrganization', member(undefined), {
      params: { organizationId: 'o1' },
    });
    expect(foreign.status).toBe(404);
  });

  test('of contributors: who edited how often', async () => {
    const spaceId = await openSpace(content, admin);
    const { id } = await inSpace(content, spaceId).open();
    const editor = inSpace(content, spaceId, member('edit', 'writer'));
    await editor.edit(id, [insert('P')]);
    await editor.edit(id, [insert('Q')]);
    const { body } = await content.call('getContributorsByChangeRequestId', admin, {
      params: { spaceId, changeRequestId: id },
    });
    expect(body.items).toMatchObject([{ count: 2, user: { id: 'writer' }, actionType: 'edit' }]);
  });
});
