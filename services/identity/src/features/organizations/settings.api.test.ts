import { operations } from '@bindery/contracts';
import { serviceTopic } from '@bindery/message-bus';
import { createIdSource, type Principal } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, startIdentity, type TestIdentity } from '../../api/testing.ts';

const {
  createOrganization,
  getOrganizationAgentInstructions,
  getOrganizationById,
  getOrganizationsForEmailDomain,
  getSubdomain,
  joinOrganization,
  loadMergeRules,
  loadOrganizations,
  putOrganizationMember,
  updateOrganizationAgentInstructions,
  updateOrganizationById,
} = operations;

type Body = NonNullable<Parameters<typeof identity.call<typeof updateOrganizationById>>[2]>['body'];
let identity: TestIdentity;
let owner: { id: string; token: string };
let member: { id: string; token: string };
let organizationId: string;
const asOwner = () => identity.principalOf(owner.token);
const newOrganization = async (token: string, title: string): Promise<string> => {
  const { body } = await identity.call(createOrganization, await identity.principalOf(token), { body: { title } });
  return body.id;
};
const update = async (body: NonNullable<Body>, ifMatch?: string, id = organizationId, caller?: Principal) =>
  identity.call(updateOrganizationById, caller ?? (await asOwner()), {
    params: { organizationId: id },
    body,
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });

beforeAll(async () => {
  identity = await startIdentity();
  owner = await identity.newUser('Owner');
  member = await identity.newUser('Member');
  organizationId = await newOrganization(owner.token, 'Settings');
  await identity.call(putOrganizationMember, await identity.admin(), {
    params: { organizationId, userId: member.id },
    body: { role: 'edit' },
  });
});
afterAll(() => identity.dispose());

describe('settings of an organization', () => {
  test('are changed by administrators, with versions, and read by all members', async () => {
    const before = await identity.call(getOrganizationById, await asOwner(), { params: { organizationId } });
    expect(before.body.billing).toMatchObject({ hasPaymentFailed: false });
    const body = {
      title: 'Renamed',
      emailDomains: ['Example.ORG', 'example.org', 'b.example'],
      defaultRole: 'read',
      defaultContent: null,
      logo: 'https://example.org/logo.png',
      ai: true,
      inviteLinks: true,
      mergeRules: {
        type: 'rules',
        rules: [
          { rule: 'require_one_of_specific_reviewers', users: [owner.id] },
          { rule: 'require_at_least_one_review' },
        ],
      },
    } as const;
    const changed = await update({ ...body, emailDomains: [...body.emailDomains] } as Body & object, before.etag);
    expect(changed.body).toMatchObject({
      ...{ title: 'Renamed', emailDomains: ['example.org', 'b.example'], defaultRole: 'read', ai: true },
      ...{ inviteLinks: true, mergeRules: body.mergeRules, sso: false },
    });
    expect(changed.body.urls.logo).toBe(body.logo);
    expect(changed.etag).not.toBe(before.etag);
    await expectProblem(update({ ai: false }, before.etag), 'precondition', 'precondition.failed');
    expect(await update({})).toEqual(changed);
    const seen = await identity.call(getOrganizationById, await identity.principalOf(member.token), {
      params: { organizationId },
    });
    expect(seen.body.billing).toBeUndefined();
    const { permissions: _p, billing: _b, ...settings } = changed.body;
    expect(seen.body).toMatchObject(settings);
    const cleared = await update({ logo: null, defaultRole: null });
    expect(cleared.body.urls.logo).toBeUndefined();
    const rules = await identity.call(loadMergeRules, await asOwner(), { body: { organizationId } });
    expect(rules.body.mergeRules).toEqual(body.mergeRules);
  });

  test('name the field that cannot be', async () => {
    const refused: readonly (readonly [NonNullable<Body>, string])[] = [
      [{ defaultContent: { type: 'site', site: 'nowhere' } }, 'organization.default_content'],
      [{ sso: true }, 'organization.no_sso_provider'],
      [
        { mergeRules: { type: 'rules', rules: [{ rule: 'allow_bypass', users: [owner.id, 'stranger'] }] } },
        'organization.merge_rule_user',
      ],
      [
        { mergeRules: { type: 'rules', rules: [{ rule: 'custom', expression: 'true' }] } },
        'organization.custom_merge_rule',
      ],
    ];
    for (const [body, code] of refused) await expectProblem(update(body), 'invalid', code);
  });

  test('are not for other members, and not there for strangers', async () => {
    const editor = await identity.principalOf(member.token);
    await expectProblem(
      update({ ai: true }, undefined, organizationId, editor),
      'forbidden',
      'organization.administrators_only',
    );
    const admin = await identity.admin();
    await expectProblem(update({ ai: true }, undefined, organizationId, admin), 'not-found', 'organization.not_found');
    const embeds = await identity.call(loadOrganizations, admin, { body: { ids: [organizationId, 'nowhere'] } });
    expect(embeds.body.organizations).toEqual([]);
    const own = await identity.call(loadOrganizations, editor, { body: { ids: [organizationId] } });
    expect(own.body.organizations.map(({ id }) => id)).toEqual([organizationId]);
  });
});

describe('hostnames', () => {
  const lookUp = async (subdomain: string, token = owner.token) =>
    identity.call(getSubdomain, await identity.principalOf(token), { params: { subdomain } });

  test('belong to one organization, whoever is first', async () => {
    const others = await Promise.all([1, 2, 3].map((n) => newOrganization(owner.token, `Racer ${n}`)));
    const caller = await asOwner();
    const outcomes = await Promise.allSettled(others.map((id) => update({ hostname: 'race' }, undefined, id, caller)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = others[outcomes.findIndex(({ status }) => status === 'fulfilled')] ?? '';
    const { body } = await lookUp('race');
    expect(body).toEqual({
      ...{ object: 'subdomain', subdomain: 'race' },
      ...{ target: { type: 'organization', organization: winner }, isActive: true },
    });
    await expectProblem(lookUp('race', member.token), 'not-found', 'subdomain.not_found');
    await update({ hostname: 'elsewhere' }, undefined, winner, caller);
    await expectProblem(lookUp('race'), 'not-found', 'subdomain.not_found');
    expect((await update({ hostname: 'race' })).body.hostname).toBe('race');
    expect((await update({ hostname: 'race' })).body.hostname).toBe('race');
  });

  test('changed back and forth at once leave exactly the last one held', async () => {
    const caller = await asOwner();
    const names = Array.from({ length: 12 }, (_, index) => `flip-${index % 2}`);
    await Promise.allSettled(names.map((hostname) => update({ hostname }, undefined, organizationId, caller)));
    const { body } = await identity.call(getOrganizationById, caller, { params: { organizationId } });
    expect((await lookUp(body.hostname ?? '')).body).toMatchObject({
      ...{ isActive: true, target: { organization: organizationId } },
    });
    const foreign = await newOrganization(owner.token, 'Grabber');
    const grab = update({ hostname: body.hostname ?? '' }, undefined, foreign, await asOwner());
    await expectProblem(grab, 'conflict', 'organization.hostname_taken');
  });

  test("of the instance itself are nobody's", async () => {
    for (const name of ['admin', 'api', 'www', 'www2', 'xn--bndery-dva'])
      await expectProblem(update({ hostname: name }), 'invalid', 'organization.hostname_reserved');
    await expectProblem(lookUp('admin'), 'not-found', 'subdomain.not_found');
    expect((await update({ hostname: 'administrators' })).body.hostname).toBe('administrators');
  });

  test('claimed for a change that was refused are given back; left by a crash, others take them later', async () => {
    await expectProblem(update({ hostname: 'refused' }, '999'), 'precondition', 'precondition.failed');
    await expectProblem(lookUp('refused'), 'not-found', 'subdomain.not_found');
    const { eventStore } = identity.ports;
    const append = eventStore.append.bind(eventStore);
    eventStore.append = async (stream, ...rest) => {
      if (stream.startsWith('identity.organization-')) throw new Error('killed here');
      return append(stream, ...rest);
    };
    await expect(update({ hostname: 'orphan' })).rejects.toThrow();
    eventStore.append = append;
    expect((await lookUp('orphan')).body.isActive).toBe(false);
    const foreign = await newOrganization(owner.token, 'Heir');
    const take = async () => update({ hostname: 'orphan' }, undefined, foreign, await asOwner());
    await expectProblem(take(), 'conflict', 'organization.hostname_taken');
    identity.clock.forward(11 * 60_000);
    expect((await take()).body.hostname).toBe('orphan');
  });
});

describe('joining by email domain', () => {
  test('is for people with such an email, once', async () => {
    const id = await newOrganization(owner.token, 'Joinable');
    const person = await identity.newUser('Joiner');
    const join = async (token: string, to = id) =>
      identity.call(joinOrganization, await identity.principalOf(token), { params: { organizationId: to } });
    await expectProblem(join(person.token), 'invalid', 'organization.email_domain');
    await expectProblem(join(person.token, 'nowhere'), 'not-found', 'organization.not_found');
    await update({ emailDomains: ['EXAMPLE.org'], defaultRole: 'comment', hostname: 'joinable' }, undefined, id);
    const caller = await identity.principalOf(person.token);
    const params = { emailDomain: 'Example.org' };
    const { body } = await identity.call(getOrganizationsForEmailDomain, caller, { params });
    const found = body.organizations.find((organization) => organization.id === id);
    expect(found).toMatchObject({ title: 'Joinable', permissions: { view: false }, emailDomains: ['example.org'] });
    expect(found).not.toHaveProperty('hostname');
    const foreign = { params: { emailDomain: 'other.org' } };
    await expectProblem(
      identity.call(getOrganizationsForEmailDomain, caller, foreign),
      'forbidden',
      'email_domain.not_yours',
    );
    const vouched = { ...caller, signedInBy: { method: 'saml', organizationId: 'o' } };
    for (const attempt of [
      identity.call(joinOrganization, vouched, { params: { organizationId: id } }),
      identity.call(getOrganizationsForEmailDomain, vouched, { params }),
    ])
      await expect(attempt).rejects.toMatchObject({ problem: true });
    const joins = await Promise.all([join(person.token), join(person.token), join(person.token)]);
    expect(joins.map(({ status }) => status)).toEqual([204, 204, 204]);
    const now = await identity.principalOf(person.token);
    expect(now.organizations[id]).toEqual({ role: 'comment', teams: [] });
  });
});

describe('agent instructions', () => {
  const instructions = (text: string) => ({
    object: 'document' as const,
    data: { schemaVersion: 1 },
    nodes: [
      {
        ...{ object: 'block' as const, type: 'paragraph' as const },
        nodes: [{ object: 'text' as const, leaves: [{ object: 'leaf' as const, text, marks: [] }] }],
      },
    ],
  });
  const put = async (text: string, ifMatch?: string, token = owner.token) =>
    identity.call(updateOrganizationAgentInstructions, await identity.principalOf(token), {
      params: { organizationId },
      body: { instructions: instructions(text) },
      ...(ifMatch === undefined ? {} : { ifMatch }),
    });
  const get = async (token = owner.token) =>
    identity.call(getOrganizationAgentInstructions, await identity.principalOf(token), { params: { organizationId } });

  test('are empty at first, then what administrators write', async () => {
    expect(await get()).toMatchObject({ etag: '0', body: { instructions: { nodes: [] }, updatedBy: owner.id } });
    const written = await put('Be brief.', '0');
    expect(written.etag).toBe('1');
    expect(await get(member.token)).toEqual(written);
    await expectProblem(put('Be long.', '0'), 'precondition', 'precondition.failed');
    await expectProblem(put('x', undefined, member.token), 'forbidden', 'organization.administrators_only');
    await expectProblem(put('y'.repeat(100_001)), 'invalid', 'agent_instructions.too_long');
  });
});

describe('everything', () => {
  test('is the same after a rebuild and after a repeat, and published without private text', async () => {
    const caller = await asOwner();
    const read = async () => [
      await identity.call(getOrganizationById, caller, { params: { organizationId } }),
      await identity.call(getOrganizationAgentInstructions, caller, { params: { organizationId } }),
    ];
    const before = JSON.stringify(await read());
    await identity.service.rebuild();
    expect(JSON.stringify(await read())).toBe(before);
    const seed = 'a repeated request';
    const repeat = () =>
      identity.call(updateOrganizationById, caller, {
        ...{ params: { organizationId }, body: { hostname: 'repeated', title: 'Once' }, ids: createIdSource(seed) },
      });
    expect(await repeat()).toEqual(await repeat());
    const publishedNow = async () =>
      (await identity.ports.bus.last(serviceTopic('identity'), 1000)).map(({ event }) => event);
    const isUpdate = ({ type }: { readonly type: string }) => type === 'bindery.identity.organization.updated.v1';
    const deadline = performance.now() + 5000;
    let published = await publishedNow();
    while (!published.some(isUpdate) && performance.now() < deadline) published = await publishedNow();
    expect(published.some(isUpdate)).toBe(true);
    expect(JSON.stringify(published)).not.toContain('Be brief.');
  });
});
