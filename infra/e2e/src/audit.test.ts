import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AuditRuleSet, ruleOf } from '@bindery/audit';
import { contentAuditRules } from '@bindery/content';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { identityAuditRules } from '@bindery/identity';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcess, type Person, register, startInProcess } from './in-process.ts';
import { ok, request, type Target } from './support.ts';

interface Entry {
  readonly id: string;
  readonly occurredAt: string;
  readonly action: string;
  readonly actor: { readonly type: string; readonly id: string; readonly label?: string };
  readonly target: { readonly type: string; readonly id: string; readonly label?: string };
  readonly correlationId?: string;
  readonly payload: {
    readonly before?: Record<string, unknown>;
    readonly after?: Record<string, unknown>;
    readonly details?: Record<string, unknown>;
    readonly token?: string;
    readonly address?: string;
  };
}
interface Page {
  readonly items: readonly Entry[];
  readonly next?: { readonly page: string };
}

const rules: Readonly<Record<string, AuditRuleSet>> = { identity: identityAuditRules, content: contentAuditRules };

const all = async (target: Target, path: string, query = ''): Promise<readonly Entry[]> => {
  const found: Entry[] = [];
  for (let page = ''; ; ) {
    const answer = await ok<Page>(target, 'GET', `${path}?limit=7${query}${page}`);
    found.push(...answer.items);
    if (answer.next === undefined) return found;
    page = `&page=${encodeURIComponent(answer.next.page)}`;
  }
};

const eventually = async <T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> => {
  for (const until = performance.now() + 5000; ; ) {
    const value = await read();
    if (is(value) || performance.now() > until) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('the audit', () => {
  let product: InProcess;
  let owner: Person;
  let member: Person;
  let guest: Person;
  let stranger: Person;
  let org: string;
  let space: string;
  let audit: string;

  beforeAll(async () => {
    product = await startInProcess({ DENIAL_REPORT_MS: '50' });
    [owner, member, guest, stranger] = (await Promise.all(
      ['owner', 'member', 'guest', 'stranger'].map((name) => register(product, name)),
    )) as [Person, Person, Person, Person];
    org = (await ok<{ id: string }>(owner, 'POST', '/v1/orgs', { title: 'Audited' })).id;
    audit = `/v1/orgs/${org}/audit-events`;
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${member.id}`, { role: 'read' });
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${member.id}`, { role: 'edit' });
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${guest.id}`, { role: null });
    space = (await ok<{ id: string }>(owner, 'POST', `/v1/orgs/${org}/spaces`, { title: 'First title' })).id;
    await ok(owner, 'PATCH', `/v1/spaces/${space}`, { title: 'Second title', emoji: '1f600' });
    await Promise.all(
      Array.from({ length: 5 }, async (_, n) => {
        const path = `/v1/spaces/${space}/change-requests`;
        const { id } = await ok<{ id: string }>(member, 'POST', path, { subject: `Change ${n}` });
        await ok(member, 'POST', `${path}/${id}/content`, {
          changes: [{ operation: 'insert_page', title: `Page ${n}`, document: { markdown: `Text ${n}` } }],
        });
        await ok(member, 'PATCH', `${path}/${id}`, { subject: `Renamed ${n}` });
      }),
    );
    await ok(owner, 'DELETE', `/v1/spaces/${space}`);
    await ok(owner, 'POST', `/v1/spaces/${space}/restore`);
  });
  afterAll(() => product.remove());

  test('has an entry for every event of every log that is to have one: counted', async () => {
    const counts = async () => {
      let expected = 0;
      for (const [service, set] of Object.entries(rules)) {
        const store = openSqliteEventStore({ path: join(product.folder, service, 'events.db') });
        for await (const event of store.readAll()) if (!('skip' in ruleOf(set, event))) expected += 1;
        await store.close();
      }
      const entries = await all(product, '/admin/v1/audit-events');
      return { expected, entries: entries.length, ids: new Set(entries.map(({ id }) => id)).size };
    };
    const { expected, entries, ids } = await eventually(counts, (found) => found.expected === found.entries);
    expect(entries).toBe(expected);
    expect(ids).toBe(entries);
    expect(entries).toBeGreaterThan(30);
    process.stdout.write(`audit: ${entries} entries for ${expected} auditable events\n`);
  });

  test('leaves out no type of event that the sources of a service name', () => {
    const root = fileURLToPath(new URL('../../../services', import.meta.url));
    const missing: string[] = [];
    let named = 0;
    for (const [service, set] of Object.entries(rules)) {
      const source = join(root, service, 'src');
      for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.ts') || /test(ing)?\.ts$/.test(file)) continue;
        for (const [, type = ''] of readFileSync(join(source, file), 'utf8').matchAll(/readonly type: '([A-Z]\w+)'/g)) {
          // Elsewhere than in a file of events, commands have types too; those are imperatives.
          if (!/(^|\/)events\.ts$/.test(file) && !/(ed|Chosen)$/.test(type)) continue;
          named += 1;
          if (!Object.hasOwn(set, type)) missing.push(`${service}: ${type} (${file})`);
        }
      }
    }
    expect(missing).toEqual([]);
    expect(named).toBeGreaterThan(30);
  });

  test('tells who, with which token, from where, what it was before and what it is now', async () => {
    const entries = await all(owner, audit, `&action=space.settings-changed`);
    expect(entries).toHaveLength(1);
    const details = await ok<Entry>(owner, 'GET', `${audit}/${entries[0]?.id}`);
    expect(details).toMatchObject({
      object: 'audit-event',
      action: 'space.settings-changed',
      actor: { type: 'user', id: owner.id, label: 'owner' },
      source: 'api',
      target: { type: 'space', id: space },
      payload: {
        before: { title: 'First title' },
        after: { title: 'Second title', emoji: '1f600' },
        address: expect.stringContaining('127.0.0.1'),
        token: expect.any(String),
      },
    });
    const role = await all(owner, audit, `&action=member.role-changed&target=${member.id}`);
    const change = await ok<Entry>(owner, 'GET', `${audit}/${role[0]?.id}`);
    expect(change).toMatchObject({
      target: { type: 'member', id: member.id, label: 'member' },
      payload: { before: { role: 'read' }, after: { role: 'edit' } },
    });
  });

  test('is listed newest first, by the filters, and a cursor goes on where the page ended', async () => {
    const entries = await all(owner, audit);
    const order = entries.map(({ occurredAt, id }) => `${occurredAt} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
    expect(new Set(order).size).toBe(order.length);
    const byMember = await all(owner, audit, `&actor=${member.id}`);
    expect(byMember.length).toBeGreaterThanOrEqual(15);
    expect(byMember.every(({ actor }) => actor.id === member.id)).toBe(true);
    const middle = entries[Math.floor(entries.length / 2)]?.occurredAt ?? '';
    const later = await all(owner, audit, `&from=${middle}`);
    const earlier = await all(owner, audit, `&to=${middle}`);
    expect(later.every(({ occurredAt }) => occurredAt >= middle)).toBe(true);
    expect(new Set([...later, ...earlier].map(({ id }) => id)).size).toBe(entries.length);
    const first = await ok<Page>(owner, 'GET', `${audit}?limit=2`);
    const foreign = await request(owner, 'GET', `${audit}?limit=2&action=space.created&page=${first.next?.page}`);
    expect(foreign.status).toBe(400);
    const { items } = await ok<{ items: { id: string }[] }>(owner, 'GET', `/v1/orgs/${org}/audit-event-actions`);
    const known = new Set(items.map(({ id }) => id));
    expect(entries.filter(({ action }) => !known.has(action))).toEqual([]);
  });

  test('is for administrators of the organization alone', async () => {
    const [some] = await all(owner, audit, '&action=space.created');
    for (const path of [audit, `${audit}/${some?.id}`, `/v1/orgs/${org}/audit-event-actions`])
      for (const [who, status] of [
        [member, 403],
        [guest, 403],
        [stranger, 404],
        [product, 404],
      ] as const)
        expect([path, (await request(who, 'GET', path)).status]).toEqual([path, status]);
    const theirs = (await ok<{ id: string }>(stranger, 'POST', '/v1/orgs', { title: 'Elsewhere' })).id;
    expect((await request(stranger, 'GET', `/v1/orgs/${theirs}/audit-events/${some?.id}`)).status).toBe(404);
    for (const id of ['missing', '__proto__', '00000000-0000-4000-8000-000000000000'])
      expect((await request(owner, 'GET', `${audit}/${id}`)).status).toBe(404);
    expect(await ok(owner, 'GET', `/v1/orgs/${org}`)).toMatchObject({ auditLogs: true });
  });

  test('has refused attempts, added up, however many there are', async () => {
    for (let n = 0; n < 10; n += 1)
      expect((await request(member, 'PATCH', `/v1/spaces/${space}`, { body: { title: 'Mine' } })).status).toBe(403);
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => request(member, 'GET', `/v1/orgs/${org}/audit-events/attack-${n}`)),
    );
    await request({ url: product.url, token: 'bnd_pat_wrong' }, 'GET', '/v1/user');
    const read = () => all(product, '/admin/v1/audit-events', '&action=access.denied');
    const counted = (entries: readonly Entry[], operation: string): number =>
      entries
        .filter(({ payload }) => payload.details?.operation === operation)
        .reduce((sum, { payload }) => sum + Number(payload.details?.count), 0);
    const entries = await eventually(
      read,
      (found) =>
        counted(found, 'getOrganizationAuditEvent') + counted(found, 'various') >= 301 &&
        counted(found, 'getAuthenticatedUser') >= 1,
    );
    expect(counted(entries, 'updateSpaceById')).toBe(10);
    // 301: one above, by the member, asked for one entry too.
    expect(counted(entries, 'getOrganizationAuditEvent') + counted(entries, 'various')).toBeGreaterThanOrEqual(301);
    const own = entries.filter(({ payload }) => payload.details?.operation === 'updateSpaceById');
    expect(own[0]).toMatchObject({
      actor: { id: member.id, label: 'member' },
      target: { type: 'space', id: space },
      payload: { details: { status: 403 }, address: expect.stringContaining('127.0.0.1') },
    });
    const inOrganization = await all(owner, audit, `&action=access.denied&target=${space}`);
    expect(inOrganization.map(({ id }) => id)).toEqual(own.map(({ id }) => id));
    const unknown = entries.find(({ payload }) => payload.details?.status === 401);
    expect(unknown).toMatchObject({ actor: { id: 'anonymous' }, payload: { details: { network: '127.0.0.0/24' } } });
  });

  test('is exported as lines, to whom it was given and for as long as that one administers', async () => {
    const made = await ok<{ url: string }>(owner, 'POST', `/v1/orgs/${org}/audit-exports`, { actor: member.id });
    const address = made.url.replace('localhost', '127.0.0.1');
    const answer = await fetch(address);
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    const listed = await all(owner, audit, `&actor=${member.id}`);
    expect(lines.map((line) => (JSON.parse(line) as Entry).id)).toEqual(listed.map(({ id }) => id));
    expect((await fetch(`${address}x`)).status).toBe(404);
    expect((await request(member, 'POST', `/v1/orgs/${org}/audit-exports`, { body: {} })).status).toBe(403);
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${stranger.id}`, { role: 'admin' });
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${owner.id}`, { role: 'edit' });
    expect((await fetch(address)).status).toBe(404);
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${owner.id}`, { role: 'admin' });
  });

  test('is the same after a rebuild', async () => {
    const quiet = await eventually(
      async () => [await all(product, '/admin/v1/audit-events'), await all(product, '/admin/v1/audit-events')] as const,
      ([one, two]) => one.length === two.length,
    );
    for (const service of product.instance.services) await service.rebuild(['audit']);
    const rebuilt = await all(product, '/admin/v1/audit-events');
    expect(rebuilt.slice(-quiet[1].length)).toEqual(quiet[1]);
  });
});
