import type { MergeRules } from '@bindery/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Directory, identityOf, principalOf, startContent, type TestContent } from '../../testing.ts';

const people = (): Directory => ({
  o1: {
    boss: { role: 'admin', teams: [] },
    author: { role: 'edit', teams: [] },
    ann: { role: 'review', teams: ['t1'] },
    bob: { role: 'review', teams: [] },
    cid: { role: 'comment', teams: [] },
    guest: { role: null, teams: [] },
  },
  o2: { stranger: { role: 'admin', teams: [] } },
});
const directory = people();
let ofOrganization: MergeRules = { type: 'none' };
let content: TestContent;
let spaceId = '';
const as = (id: string) => principalOf(directory, id);

beforeAll(async () => {
  content = await startContent({ services: identityOf(directory, ['t1', 't2']), mergeRules: () => ofOrganization });
});
afterAll(() => content.stop());
beforeEach(async () => {
  Object.assign(directory, people());
  ofOrganization = { type: 'none' };
  const body = { empty: true };
  spaceId = (await content.call('createSpace', as('boss'), { params: { organizationId: 'o1' }, body })).body.id;
});

type Rules = Extract<MergeRules, { type: 'rules' }>['rules'];
const setRules = (rules: Rules) =>
  content.call('updateSpaceById', as('boss'), { params: { spaceId }, body: { mergeRules: { type: 'rules', rules } } });
const edit = (changeRequestId: string, title: string) =>
  content.call('updateChangeRequestContent', as('author'), {
    params: { spaceId, changeRequestId },
    body: { changes: [{ operation: 'insert_page', title, document: { markdown: `Text of ${title}.` } }] },
  });
/** A change request of `author` with a page. */
const open = async (): Promise<string> => {
  const { id } = (
    await content.call('createChangeRequest', as('author'), { params: { spaceId }, body: { subject: 'S' } })
  ).body;
  await edit(id, 'First');
  return id;
};
const review = (changeRequestId: string, who: string, status = 'approved', more: object = {}, ifMatch?: string) =>
  content.call('submitChangeRequestReview', as(who), {
    params: { spaceId, changeRequestId },
    body: { status, ...more },
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });
const merge = (changeRequestId: string, who = 'ann') =>
  content.call('mergeChangeRequest', as(who), { params: { spaceId, changeRequestId } });
const get = (changeRequestId: string, who = 'author') =>
  content.call('getChangeRequestById', as(who), { params: { spaceId, changeRequestId } });
const ask = (changeRequestId: string, body: object, who = 'author') =>
  content.call('requestReviewersForChangeRequest', as(who), { params: { spaceId, changeRequestId }, body });
const remove = async (changeRequestId: string, userId: string, who = 'author') =>
  (
    await content.call('removeRequestedReviewerFromChangeRequest', as(who), {
      params: { spaceId, changeRequestId, userId },
    })
  ).status;
const asked = async (changeRequestId: string, query: object = {}) =>
  (
    await content.call('getRequestedReviewersByChangeRequestId', as('author'), {
      params: { spaceId, changeRequestId },
      query: { ...query },
    })
  ).body;
const reviews = async (changeRequestId: string, query: object = {}) =>
  (
    await content.call('getReviewsByChangeRequestId', as('cid'), {
      params: { spaceId, changeRequestId },
      query: { ...query },
    })
  ).body;
/** What the answer of a refused call says. */
const message = (answer: { readonly body: unknown }): string => String(Object(answer.body).message);
const approval: Rules = [{ rule: 'require_at_least_one_approved_review' }];

describe('reviews', () => {
  test('say what they were about, who asked, and turn outdated', async () => {
    const id = await open();
    const { revision } = (await get(id)).body;
    await ask(id, { users: ['ann'] });
    const first = await review(id, 'ann', 'changes-requested', { comment: { markdown: 'Too **short**.' } });
    expect(first).toMatchObject({
      status: 201,
      body: {
        revision,
        status: 'changes-requested',
        outdated: false,
        reviewer: { id: 'ann' },
        requestedBy: { id: 'author' },
      },
    });
    expect(first.location).toBe(first.body.urls.location);
    expect(first.body.comment).toMatchObject({
      body: { markdown: 'Too **short**.' },
      target: { review: first.body.id },
    });
    const comments = await content.call('listCommentsInChangeRequest', as('cid'), {
      params: { spaceId, changeRequestId: id },
    });
    expect(comments.body.items.map((comment) => comment.id)).toEqual([first.body.comment?.id]);
    await edit(id, 'Longer');
    const second = await review(id, 'ann');
    expect((await reviews(id)).items.map((it) => [it.id, it.outdated])).toEqual([
      [second.body.id, false],
      [first.body.id, true],
    ]);
    expect((await reviews(id, { outdated: true })).items.map((it) => it.id)).toEqual([first.body.id]);
    expect((await reviews(id, { outdated: false })).items.map((it) => it.id)).toEqual([second.body.id]);
    const page = await reviews(id, { limit: 1 });
    expect((await reviews(id, { limit: 1, page: page.next?.page })).items.map((it) => it.id)).toEqual([first.body.id]);
    const one = await content.call('getChangeRequestReviewById', as('cid'), {
      params: { spaceId, changeRequestId: id, reviewId: first.body.id },
    });
    expect(one.body).toMatchObject({ id: first.body.id, outdated: true });
  });

  test('are for those who may review; elsewhere they are not there', async () => {
    const id = await open();
    const other = await open();
    expect([(await review(id, 'cid')).status, (await review(id, 'author')).status]).toEqual([403, 403]);
    expect([(await review(id, 'stranger')).status, (await review(id, 'guest')).status]).toEqual([404, 404]);
    const given = await review(id, 'ann');
    const params = { spaceId, changeRequestId: other, reviewId: given.body.id };
    expect((await content.call('getChangeRequestReviewById', as('cid'), { params })).status).toBe(404);
    for (const body of [
      { status: 'merged' },
      {},
      { status: 'approved', more: 1 },
      { status: 'approved', comment: { markdown: 1 } },
    ])
      expect(
        (await content.call('submitChangeRequestReview', as('ann'), { params: { spaceId, changeRequestId: id }, body }))
          .status,
      ).toBe(400);
  });

  test('of what was read only, when the tag is sent', async () => {
    const id = await open();
    const { etag = '' } = await get(id);
    await edit(id, 'Sneaked in');
    expect((await review(id, 'ann', 'approved', {}, etag)).status).toBe(412);
    expect((await reviews(id)).items).toEqual([]);
    expect((await review(id, 'ann', 'approved', {}, (await get(id)).etag)).status).toBe(201);
  });

  test('are over when it is archived or merged: 409', async () => {
    const id = await open();
    const params = { spaceId, changeRequestId: id };
    await content.call('updateChangeRequestById', as('author'), { params, body: { status: 'archived' } });
    expect(await review(id, 'ann')).toMatchObject({ status: 409, code: 'change_request.archived' });
    expect(await ask(id, { users: ['ann'] })).toMatchObject({ status: 409, code: 'change_request.archived' });
    expect((await merge(id)).status).toBe(200);
    expect(await review(id, 'ann')).toMatchObject({ status: 409, code: 'change_request.merged' });
    expect(
      await content.call('updateChangeRequestById', as('author'), { params, body: { status: 'open' } }),
    ).toMatchObject({
      status: 409,
      code: 'change_request.status_refused',
    });
    const toMerged = await content.call('updateChangeRequestById', as('author'), {
      params,
      body: { status: 'merged' },
    });
    expect(toMerged.status).toBe(400);
  });
});

describe('asking for reviews', () => {
  test('of users and teams, all of them or nobody', async () => {
    const id = await open();
    for (const body of [
      { users: [] },
      { users: ['ann', 'guest'] },
      { users: ['ann', 'stranger'] },
      { users: [], teams: ['t9'] },
    ])
      expect((await ask(id, body)).status).toBe(400);
    expect(await asked(id)).toMatchObject({ count: 0, items: [] });
    expect((await ask(id, { users: ['ann'] }, 'cid')).status).toBe(403);
    const answer = await ask(id, { users: ['ann', 'cid', 'ann'], teams: ['t1'], subject: 'Please look' });
    expect(answer.body.users).toMatchObject([
      { kind: 'user', user: { id: 'ann' } },
      { kind: 'user', user: { id: 'cid' } },
      { kind: 'team', team: { object: 'team', id: 't1' } },
    ]);
    expect((await get(id)).body.subject).toBe('Please look');
    const first = await asked(id, { limit: 2 });
    const rest = await asked(id, { limit: 2, page: first.next?.page });
    expect([...first.items, ...rest.items]).toHaveLength(3);
    expect(rest.next).toBeUndefined();
  });

  test('lists find what somebody, or a team, was asked for', async () => {
    const [id, other] = [await open(), await open()];
    await ask(id, { users: ['ann'], teams: ['t2'] });
    const found = async (requestedReviewer: string) => {
      const query = { requestedReviewer };
      const inSpace = await content.call('listChangeRequestsForSpace', as('bob'), { params: { spaceId }, query });
      const inOrganization = await content.call('listChangeRequestsForOrganization', as('bob'), {
        params: { organizationId: 'o1' },
        query: { ...query, space: spaceId },
      });
      expect(inOrganization.body.items.map((it) => it.id)).toEqual(inSpace.body.items.map((it) => it.id));
      return inSpace.body.items.map((it) => it.id);
    };
    expect([await found('ann'), await found('t2'), await found('bob')]).toEqual([[id], [id], []]);
    await ask(other, { users: ['ann'] });
    expect(await remove(id, 'ann')).toBe(205);
    expect([await found('ann'), await found('t2')]).toEqual([[other], [id]]);
  });

  test('ends by author, editors and those who were asked; the review stays', async () => {
    await setRules([{ rule: 'require_specific_reviewers', users: ['ann'] }]);
    const id = await open();
    await ask(id, { users: ['ann', 'cid'], teams: ['t1'] });
    expect(await remove(id, 'ann', 'cid')).toBe(403);
    expect(await remove(id, 'cid', 'cid')).toBe(205);
    expect(await remove(id, 'cid')).toBe(204);
    expect(await remove(id, 't1', 'bob')).toBe(205);
    await review(id, 'ann');
    expect(await remove(id, 'ann')).toBe(205);
    expect((await asked(id)).items).toEqual([]);
    expect(await merge(id)).toMatchObject({ status: 200, body: { result: 'merge' } });
  });

  test('of a team is answered by its members', async () => {
    const id = await open();
    await ask(id, { users: [], teams: ['t1'] });
    expect((await review(id, 'ann')).body.requestedBy).toMatchObject({ id: 'author' });
    expect((await review(id, 'bob')).body.requestedBy).toBeUndefined();
  });
});

describe('merge rules', () => {
  test('are the organization’s until the space has its own', async () => {
    ofOrganization = { type: 'rules', rules: [{ rule: 'require_author_to_merge' }] };
    const id = await open();
    const refused = await merge(id);
    expect(refused).toMatchObject({ status: 409, code: 'change_request.merge_rules' });
    expect(message(refused)).toContain('require_author_to_merge: only its author, author, may merge it.');
    await setRules(approval);
    expect(message(await merge(id))).toContain('require_at_least_one_approved_review: nobody has approved');
    const body = { mergeRules: { type: 'none' } };
    await content.call('updateSpaceById', as('boss'), { params: { spaceId }, body });
    expect((await merge(id)).status).toBe(200);
  });

  test('bind administrators, unless a bypass names them; the event says what was passed over', async () => {
    await setRules(approval);
    const id = await open();
    expect(await merge(id, 'boss')).toMatchObject({ status: 409, code: 'change_request.merge_rules' });
    await setRules([...approval, { rule: 'allow_bypass', users: ['boss'] }]);
    expect((await merge(id, 'ann')).status).toBe(409);
    expect((await merge(id, 'boss')).status).toBe(200);
    const types: [string, unknown][] = [];
    for await (const event of content.ports.eventStore.readStream(`content.changeRequest-${id}`))
      types.push([event.type, Object(event.data).bypassed]);
    expect(types.at(-1)).toEqual(['ChangeRequestMerged', ['require_at_least_one_approved_review']]);
  });

  test('do not count who left, who may review no more, and what moved on', async () => {
    await setRules(approval);
    const id = await open();
    await review(id, 'bob');
    const { bob: _bob, ...others } = directory.o1 ?? {};
    directory.o1 = others;
    expect((await merge(id)).status).toBe(409);
    directory.o1 = { ...others, bob: { role: 'comment', teams: [] } };
    expect((await merge(id)).status).toBe(409);
    directory.o1 = { ...others, bob: { role: null, teams: ['t2'] } };
    expect((await merge(id)).status).toBe(409);
    await content.call('inviteToSpace', as('boss'), { params: { spaceId }, body: { role: 'review', teams: ['t2'] } });
    await edit(id, 'Later');
    expect((await merge(id)).status).toBe(409);
    await review(id, 'bob');
    expect((await merge(id)).status).toBe(200);
  });

  test('are refused when written, where nothing can evaluate them, they name strangers or are too many', async () => {
    const custom = await setRules([...approval, { rule: 'custom', expression: 'true' }]);
    expect(custom).toMatchObject({ status: 400, code: 'space.custom_merge_rule' });
    expect(message(custom)).toContain('body.mergeRules.rules[1]');
    const named = await setRules([...approval, { rule: 'allow_bypass', users: ['boss', 'stranger'] }]);
    expect(named).toMatchObject({ status: 400, code: 'space.merge_rule_user' });
    expect(message(named)).toContain('body.mergeRules.rules[1].users[1]');
    expect((await setRules(Array.from({ length: 51 }, () => ({ rule: 'require_author_to_merge' })))).status).toBe(400);
    expect((await content.call('getSpaceById', as('boss'), { params: { spaceId } })).body.mergeRules).toEqual({
      type: 'inherit',
    });
  });

  test('let no edit through beside an approval, whatever comes first', async () => {
    await setRules(approval);
    const outcomes = new Set<number>();
    for (let round = 0; round < 6; round += 1) {
      const id = await open();
      await review(id, 'bob');
      const approvedRevision = (await get(id)).body.revision;
      const [edited, merged] = await Promise.all(
        round % 2 === 0 ? [edit(id, `Unread ${round}`), merge(id)] : [merge(id), edit(id, `Unread ${round}`)].reverse(),
      );
      outcomes.add(merged?.status ?? 0);
      const after = (await get(id)).body;
      if (after.status === 'merged') expect(after.revision).toBe(approvedRevision);
      else expect([edited?.status, merged?.status]).toEqual([200, 409]);
      // All at once: the approval may be of either revision, and what is merged has one.
      const racing = await open();
      await Promise.all([review(racing, 'bob'), edit(racing, `Race ${round}`), merge(racing)]);
      const { status, revision } = (await get(racing)).body;
      const [last] = (await reviews(racing)).items;
      if (status === 'merged') expect(last?.revision).toBe(revision);
    }
    expect([...outcomes].every((status) => status === 200 || status === 409)).toBe(true);
  });

  test('and reviews read the same after a rebuild and a restart', async () => {
    const id = await open();
    await ask(id, { users: ['ann'], teams: ['t1'] });
    await review(id, 'ann', 'changes-requested', { comment: { markdown: 'No.' } });
    await remove(id, 't1');
    await content.settled();
    const before = JSON.stringify([await reviews(id), await asked(id)]);
    await content.service.rebuild(['reviews', 'change-requests']);
    await content.settled();
    expect(JSON.stringify([await reviews(id), await asked(id)])).toBe(before);
    content = await content.restarted();
    expect(JSON.stringify([await reviews(id), await asked(id)])).toBe(before);
    await setRules([{ rule: 'require_all_reviews_approved' }]);
    expect(message(await merge(id))).toContain('ann (requested changes)');
  });
});
