import { operations } from '@bindery/contracts';
import { createIdSource } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const { createOrganization, createTokenForAuthenticatedUser, createUser, deleteUser } = operations;
const { getAuthenticatedUser, getUserById, listMembersInOrganizationById, putOrganizationMember } = operations;
const { listUsers, loadUsers, updateUserById } = operations;
let identity: TestIdentity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.dispose());

describe('creating users', () => {
  test('answers the user with its address, and finds it at once', async () => {
    const admin = await identity.admin();
    const body = { email: 'Ada@Example.org', displayName: 'Ada', photoURL: 'https://example.org/ada.png' };
    const created = await identity.call(createUser, admin, { body });
    expect(created.body).toMatchObject({ object: 'user', ...body });
    expect(created.location).toBe(created.body.urls.location);
    const read = await identity.call(getUserById, admin, { params: { userId: created.body.id } });
    expect(read.body).toEqual(created.body);
    expect(read.etag).toBe(created.etag);
  });

  test('refuses an email that is taken, however it is written', async () => {
    const admin = await identity.admin();
    await identity.call(createUser, admin, { body: { email: 'taken@example.org', displayName: 'First' } });
    const again = identity.call(createUser, admin, { body: { email: 'TAKEN@example.ORG', displayName: 'Second' } });
    await expectProblem(again, 'conflict', 'user.email_taken');
  });

  test('20 at the same time with one email: one wins, and nothing of the others is left', async () => {
    const admin = await identity.admin();
    const before = (await identity.call(listUsers, admin, { query: { limit: 0 } })).body.count ?? 0;
    const seeds = Array.from({ length: 20 }, (_, index) => `a seed of some length ${index}`);
    const attempts = seeds.map((seed) =>
      identity.call(createUser, admin, {
        body: { email: 'race@example.org', displayName: 'Racer' },
        ids: createIdSource(seed),
      }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'user.email_taken' });
    expect((await identity.call(listUsers, admin, { query: { limit: 0 } })).body.count).toBe(before + 1);
    const keys = await Promise.all(seeds.map((seed) => identity.keys.get(createIdSource(seed).id())));
    expect(keys.filter((key) => key !== undefined)).toHaveLength(1);
  });

  test('repeated with the same ids makes one user', async () => {
    const admin = await identity.admin();
    const body = { email: 'repeat@example.org', displayName: 'Repeat' };
    const seed = 'the seed of an idempotency key';
    const first = await identity.call(createUser, admin, { body, ids: createIdSource(seed) });
    const again = await identity.call(createUser, admin, { body, ids: createIdSource(seed) });
    expect(again.body).toEqual(first.body);
  });

  test('is for administrators of the instance only', async () => {
    const user = await identity.newUser('Plain user');
    const attempt = identity.call(createUser, await identity.principalOf(user.token), {
      body: { email: 'no@example.org', displayName: 'No' },
    });
    await expectProblem(attempt, 'forbidden', 'instance.administrators_only');
  });
});

describe('seeing users', () => {
  test('themselves, and those they share an organization with; others do not exist', async () => {
    const [one, two, three] = [
      await identity.newUser('See One'),
      await identity.newUser('See Two'),
      await identity.newUser('See Three'),
    ];
    for (const { id: userId } of [one, two])
      await identity.call(operations.putOrganizationMember, await identity.admin(), {
        params: { organizationId: identity.organizationId, userId },
        body: { role: 'read' },
      });
    const caller = await identity.principalOf(one.token);
    expect((await identity.call(getAuthenticatedUser, caller)).body.id).toBe(one.id);
    expect((await identity.call(getUserById, caller, { params: { userId: one.id } })).body.id).toBe(one.id);
    expect((await identity.call(getUserById, caller, { params: { userId: two.id } })).body.id).toBe(two.id);
    await expectProblem(
      identity.call(getUserById, caller, { params: { userId: three.id } }),
      'not-found',
      'user.not_found',
    );
    await expectProblem(
      identity.call(getUserById, caller, { params: { userId: 'nobody' } }),
      'not-found',
      'user.not_found',
    );
  });
});

describe('changing users', () => {
  test('themselves: absent fields stay, the version moves, nothing is written when nothing changes', async () => {
    const user = await identity.newUser('Before');
    const caller = await identity.principalOf(user.token);
    const params = { userId: user.id };
    const old = await identity.call(getUserById, caller, { params });
    const changed = await identity.call(updateUserById, caller, { params, body: { displayName: 'After' } });
    expect(changed.body).toEqual({ ...old.body, displayName: 'After' });
    expect(changed.etag).not.toBe(old.etag);
    expect((await identity.call(getAuthenticatedUser, caller)).body).toEqual(changed.body);
    const same = await identity.call(updateUserById, caller, { params, body: { displayName: 'After' } });
    expect(same).toEqual(changed);
    expect((await identity.call(updateUserById, caller, { params, body: {} })).etag).toBe(changed.etag);
  });

  test('only in the version that If-Match names', async () => {
    const user = await identity.newUser('Versioned');
    const caller = await identity.principalOf(user.token);
    const params = { userId: user.id };
    const { etag = '' } = await identity.call(getAuthenticatedUser, caller);
    await identity.call(updateUserById, caller, { params, body: { displayName: 'One' }, ifMatch: etag });
    const stale = identity.call(updateUserById, caller, { params, body: { displayName: 'Two' }, ifMatch: etag });
    await expectProblem(stale, 'precondition', 'precondition.failed');
    await identity.call(updateUserById, caller, { params, body: { displayName: 'Three' }, ifMatch: '*' });
  });

  test('20 at the same time with one If-Match: one wins', async () => {
    const user = await identity.newUser('Contended');
    const caller = await identity.principalOf(user.token);
    const params = { userId: user.id };
    const { etag = '' } = await identity.call(getAuthenticatedUser, caller);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        identity.call(updateUserById, caller, { params, body: { displayName: `N${index}` }, ifMatch: etag }),
      ),
    );
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.body] : []));
    expect(won).toHaveLength(1);
    expect((await identity.call(getAuthenticatedUser, caller)).body).toEqual(won[0]);
  });

  test('not others, unless the caller administers the instance', async () => {
    const [one, two] = [await identity.newUser('Other One'), await identity.newUser('Other Two')];
    const caller = await identity.principalOf(one.token);
    const change = { params: { userId: two.id }, body: { displayName: 'Hijacked' } };
    await expectProblem(identity.call(updateUserById, caller, change), 'not-found', 'user.not_found');
    for (const { id: userId } of [one, two])
      await identity.call(operations.putOrganizationMember, await identity.admin(), {
        params: { organizationId: identity.organizationId, userId },
        body: { role: 'admin' },
      });
    const member = await identity.principalOf(one.token);
    await expectProblem(identity.call(updateUserById, member, change), 'forbidden', 'user.not_self');
    const byAdmin = await identity.call(updateUserById, await identity.admin(), change);
    expect(byAdmin.body.displayName).toBe('Hijacked');
  });
});

describe('listing and loading users', () => {
  test('pages through all of them once, oldest first', async () => {
    const admin = await identity.admin();
    const all = (await identity.call(listUsers, admin, { query: { limit: 1000 } })).body;
    const seen: string[] = [];
    for (let page: string | undefined, more = true; more; ) {
      const { body } = await identity.call(listUsers, admin, {
        query: { limit: 3, ...(page === undefined ? {} : { page }) },
      });
      seen.push(...body.items.map(({ id }) => id));
      page = body.next?.page;
      more = page !== undefined;
    }
    expect(seen).toEqual(all.items.map(({ id }) => id));
    expect(all.count).toBe(seen.length);
    expect(all.next).toBeUndefined();
  });

  test('finds parts of names and emails without case and accents, page by page', async () => {
    const admin = await identity.admin();
    for (const name of ['Zoë Quix', 'Quixote', 'MacQuix']) await identity.newUser(name);
    const found = await identity.call(listUsers, admin, { query: { search: 'zoe' } });
    expect(found.body.items.map(({ displayName }) => displayName)).toEqual(['Zoë Quix']);
    const first = await identity.call(listUsers, admin, { query: { search: 'QUIX', limit: 2 } });
    const page = first.body.next?.page ?? '';
    const second = await identity.call(listUsers, admin, { query: { search: 'QUIX', limit: 2, page } });
    expect([...first.body.items, ...second.body.items].map(({ displayName }) => displayName).toSorted()).toEqual([
      'MacQuix',
      'Quixote',
      'Zoë Quix',
    ]);
    expect(second.body.next).toBeUndefined();
    await expectProblem(identity.call(listUsers, admin, { query: { page } }), 'invalid', 'cursor.invalid');
    const forged = { query: { page: 'bm9uc2Vuc2U.AAAAAAAAAAAAAAAA' } };
    await expectProblem(identity.call(listUsers, admin, forged), 'invalid', 'cursor.invalid');
  });

  test('loads those that exist', async () => {
    const admin = await identity.admin();
    const { body } = await identity.call(loadUsers, admin, { body: { ids: [admin.id, 'nobody'] } });
    expect(body.users.map(({ id }) => id)).toEqual([admin.id]);
  });
});

describe('erasing a user', () => {
  test('leaves it no way in, also by tokens that requests under way make afterwards', async () => {
    const admin = await identity.admin();
    const { id: userId, token } = await identity.newUser('Gone');
    const underWay = await identity.principalOf(token);
    const erasing = identity.call(deleteUser, admin, { params: { userId } });
    const racing = Array.from({ length: 4 }, () =>
      identity.call(createTokenForAuthenticatedUser, underWay, { body: {} }),
    );
    expect((await erasing).status).toBe(204);
    const late = await identity.call(createTokenForAuthenticatedUser, underWay, { body: {} });
    const made = [
      late,
      ...(await Promise.allSettled(racing)).flatMap((it) => (it.status === 'fulfilled' ? it.value : [])),
    ];
    for (const { body } of made) expect(await identity.resolve(body.token)).toBeNull();
    expect(await identity.resolve(token)).toBeNull();
  });

  test('leaves it in no organization, also in those that requests under way make meanwhile and afterwards', async () => {
    const admin = await identity.admin();
    const { id: userId, token } = await identity.newUser('Founder');
    const successor = await identity.newUser('Successor');
    const underWay = await identity.principalOf(token);
    const erase = () => identity.call(deleteUser, admin, { params: { userId } });
    const found = async () => (await identity.call(createOrganization, underWay, { body: { title: 'Late' } })).body.id;
    const handOver = async (organizationId: string) => {
      const params = { organizationId, userId: successor.id };
      await identity.call(putOrganizationMember, admin, { params, body: { role: 'admin' } });
    };
    const [erased, ...meanwhile] = await Promise.allSettled([erase(), found(), found(), found(), found()]);
    const made = meanwhile.flatMap((it) => (it.status === 'fulfilled' ? it.value : []));
    for (const organizationId of made) await handOver(organizationId);
    // Refused when one of them was there in time: it had no other administrator.
    if (erased.status === 'rejected') await erase();
    const afterwards = await found();
    await handOver(afterwards);
    const reader = await identity.principalOf(successor.token);
    for (const organizationId of [...made, afterwards])
      await until('the successor is alone', async () => {
        const { body } = await identity.call(listMembersInOrganizationById, reader, { params: { organizationId } });
        return body.items.length === 1 && body.items[0]?.id === successor.id;
      });
  });
});
