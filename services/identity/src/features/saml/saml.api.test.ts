import { operations } from '@bindery/contracts';
import { createIdentityProvider, newSigningIdentity, type TestIdentityProvider } from '@bindery/testing/saml';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem } from '../../api/testing.ts';
import { address, publicUrl, startSaml, type TestSaml } from './login/testing.ts';
import { inBase64 } from './testing.ts';

const { createOrganizationSAMLProvider, getMemberInOrganizationById, getOrganizationSAMLProviderById } = operations;
const { listSSOProviderLoginsInOrganization, updateOrganizationById, updateOrganizationSAMLProvider } = operations;
const { deleteOrganizationSAMLProvider, listSAMLProvidersInOrganizationById } = operations;

let saml: TestSaml;
let clock: TestSaml['clock'];
let identity: TestSaml['identity'];
let idp: TestSaml['idp'];
let owner: TestSaml['owner'];
let organizationId: TestSaml['organizationId'];
let providerId: TestSaml['providerId'];
let found: TestSaml['found'];
let addProvider: TestSaml['addProvider'];
let at: TestSaml['at'];
let metadataOf: TestSaml['metadataOf'];
let begin: TestSaml['begin'];
let post: TestSaml['post'];
let finish: TestSaml['finish'];
let answerAs: TestSaml['answerAs'];
let signIn: TestSaml['signIn'];
let principalOf: TestSaml['principalOf'];

beforeAll(async () => {
  saml = await startSaml();
  ({ clock, identity, idp, owner, organizationId, providerId, found, addProvider } = saml);
  ({ at, metadataOf, begin, post, finish, answerAs, signIn, principalOf } = saml);
});
afterAll(() => saml.dispose());

describe('signing in', () => {
  test('makes a member with the default role, marked as signed in through it, and begins a session there', async () => {
    const response = await signIn('Ada@Example.org', providerId, '?returnTo=%2Fspaces%3Fx%3D1');
    expect([response.status, response.headers.get('location')]).toEqual([303, '/spaces?x=1']);
    const principal = await principalOf(response);
    expect(principal?.organizations).toEqual({ [organizationId]: { role: 'edit', teams: [] } });
    const { body: member } = await identity.call(getMemberInOrganizationById, await identity.principalOf(owner.token), {
      params: { organizationId, userId: principal?.id ?? '' },
    });
    expect([member.sso, member.role]).toEqual([true, 'edit']);
    const again = await principalOf(await signIn('ada@example.org'));
    expect(again?.id).toBe(principal?.id);
  });

  test('answers count once, also when they come at the same time', async () => {
    const request = await begin();
    const answer = inBase64(await idp.answer(await metadataOf(), request.id, { now: clock.now() }));
    const all = await Promise.all([1, 2, 3, 4].map(() => post(answer, request.relayState)));
    expect(all.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403]);
    const second = inBase64(await idp.answer(await metadataOf(), request.id, { now: clock.now() }));
    expect((await post(second, request.relayState)).status).toBe(403);
    const answered = all.find(({ status }) => status === 303);
    if (answered === undefined) throw new Error('nothing was accepted');
    const finished = await Promise.all([1, 2, 3].map(() => finish(answered, request.cookie)));
    expect(finished.map(({ status }) => status).sort()).toEqual([303, 403, 403]);
  });

  test('another browser, no browser, another provider and a late one get nothing', async () => {
    const request = await begin();
    const other = await begin();
    const answer = inBase64(await idp.answer(await metadataOf(), request.id, { now: clock.now() }));
    expect((await post(answer, undefined)).status).toBe(403);
    expect((await post(answer, other.relayState)).status).toBe(403);
    expect((await post(answer, `${request.relayState}x`)).status).toBe(403);
    const answered = await post(answer, request.relayState);
    for (const cookie of ['', other.cookie, 'bindery_saml=x']) {
      const refused = await finish(answered, cookie);
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    }
    clock.forward(61_000);
    expect((await finish(answered, request.cookie)).status).toBe(403);
  });

  test('HEAD begins and ends nothing, and pages elsewhere are not gone to', async () => {
    expect((await fetch(at(`${providerId}/start`), { method: 'HEAD' })).status).toBe(405);
    for (const target of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/%09/evil.example',
      '\\/evil',
      '/\t/evil.example',
      '/a\r\nset-cookie: x',
      '/..//evil.example',
    ])
      expect(
        (await signIn('ada@example.org', providerId, `?returnTo=${encodeURIComponent(target)}`)).headers.get(
          'location',
        ),
      ).toMatch(/^\/(?:$|%09\/evil\.example$)/);
    expect((await fetch(at('nobody/start'), { redirect: 'manual' })).status).toBe(404);
  });
});

describe('other organizations', () => {
  let other: string;
  let otherProvider: string;
  beforeAll(async () => {
    const attacker = await identity.newUser('Mallory');
    other = await found(attacker.token, 'Elsewhere');
    otherProvider = await addProvider(other, attacker.token, idp, 'read');
  });

  test('an answer for one is none for another, not even from the same identity provider', async () => {
    const request = await begin(otherProvider);
    const answer = inBase64(await idp.answer(await metadataOf(otherProvider), request.id, { now: clock.now() }));
    expect((await post(answer, request.relayState, providerId)).status).toBe(403);
    const mine = await begin();
    expect((await post(answer, mine.relayState, providerId)).status).toBe(403);
  });

  test('an organization that claims the domain of another gets into nothing but itself', async () => {
    // Olga owns the first organization, and administers it; Mallory's provider says that it is Olga.
    const principal = await principalOf(await signIn('olga.owner@example.org', otherProvider));
    expect(principal?.id).toBe(owner.id);
    expect(principal?.organizations).toEqual({ [other]: { role: 'read', teams: [] } });
    const administrator = await principalOf(await signIn('admin@example.org', otherProvider));
    expect(administrator?.instanceAdmin).toBe(false);
  });

  test('nor may it speak for members of others outside of its domains', async () => {
    expect((await answerAs('admin@localhost.example', otherProvider)).answered.status).toBe(403);
  });
});

describe('providers', () => {
  const params = () => ({ organizationId, samlProviderId: providerId });
  const admin = () => identity.principalOf(owner.token);

  test('strangers get 404, members 403, and administrators what they gave', async () => {
    const stranger = await identity.principalOf((await identity.newUser('Stranger')).token);
    await expectProblem(
      identity.call(getOrganizationSAMLProviderById, stranger, { params: params() }),
      'not-found',
      'organization.not_found',
    );
    const member = await principalOf(await signIn('bea@example.org'));
    if (member === null) throw new Error('nobody');
    await expectProblem(
      identity.call(getOrganizationSAMLProviderById, member, { params: params() }),
      'forbidden',
      'saml_provider.admin_only',
    );
    const { body } = await identity.call(getOrganizationSAMLProviderById, await admin(), { params: params() });
    expect(body).toMatchObject({
      object: 'saml-provider',
      status: 'active',
      certificate: idp.certificate,
      service: {
        acsURL: `${publicUrl}/saml/${providerId}/acs`,
        startURL: `${publicUrl}/saml/${providerId}/start`,
        entityID: `${publicUrl}/saml/${providerId}/metadata`,
      },
    });
    const logins = await identity.call(listSSOProviderLoginsInOrganization, member, { params: { organizationId } });
    expect(logins.body.items).toEqual([{ id: providerId, label: 'Company', startURL: body.service.startURL }]);
    await expectProblem(
      identity.call(listSSOProviderLoginsInOrganization, stranger, { params: { organizationId } }),
      'not-found',
      'organization.not_found',
    );
  });

  test('what people must not be sent to, and what nothing can be checked with, is refused', async () => {
    const change = async (body: object) =>
      identity.call(updateOrganizationSAMLProvider, await admin(), { params: params(), body });
    for (const ssoURL of [
      'http://idp.example.org/sso',
      'javascript:alert(1)',
      'https://u:p@idp.example.org/',
      'ftp://x/',
    ])
      await expectProblem(change({ ssoURL }), 'invalid', 'saml_provider.sso_url');
    const weak = newSigningIdentity('weak', { bits: 1024 }).certificate;
    const expired = newSigningIdentity('old', { validUntil: new Date('2021-01-01') }).certificate;
    const { certificate } = idp;
    for (const wrong of [
      'x',
      weak,
      expired,
      `${certificate}${certificate}${certificate}`,
      `${certificate}x`,
      idp.identity.privateKey,
    ])
      await expectProblem(change({ certificate: wrong }), 'invalid', 'saml_provider.certificate');
    await expectProblem(change({ defaultTeam: 'nosuchteam' }), 'invalid', 'saml_provider.team');
  });

  test('a certificate is changed without anybody being shut out', async () => {
    const next = createIdentityProvider({ entityID: idp.entityID });
    const try_ = async (provider: TestIdentityProvider) => {
      const request = await begin();
      return (
        await post(
          inBase64(await provider.answer(await metadataOf(), request.id, { now: clock.now() })),
          request.relayState,
        )
      ).status;
    };
    const set = async (certificate: string) =>
      identity.call(updateOrganizationSAMLProvider, await admin(), { params: params(), body: { certificate } });
    expect([await try_(idp), await try_(next)]).toEqual([303, 403]);
    await set(idp.certificate + next.certificate);
    expect([await try_(idp), await try_(next)]).toEqual([303, 303]);
    await set(next.certificate.replaceAll(/-----[A-Z ]+-----|\n/g, ''));
    expect([await try_(idp), await try_(next)]).toEqual([403, 303]);
    await set(idp.certificate);
  });

  test('one that is not complete is pending, lists in order of age, and is gone when deleted', async () => {
    const principal = await admin();
    const { body: pending } = await identity.call(createOrganizationSAMLProvider, principal, {
      params: { organizationId },
      body: { label: 'Later' },
    });
    expect([pending.status, pending.ssoURL, pending.defaultRole]).toEqual(['pending', '', null]);
    expect((await fetch(at(`${pending.id}/start`), { redirect: 'manual' })).status).toBe(404);
    const list = await identity.call(listSAMLProvidersInOrganizationById, principal, { params: { organizationId } });
    expect(list.body.items.map(({ id }) => id)).toEqual([providerId, pending.id]);
    const gone = { params: { organizationId, samlProviderId: pending.id } };
    expect((await identity.call(deleteOrganizationSAMLProvider, principal, gone)).status).toBe(205);
    expect((await identity.call(deleteOrganizationSAMLProvider, principal, gone)).status).toBe(204);
    await expectProblem(
      identity.call(getOrganizationSAMLProviderById, principal, gone),
      'not-found',
      'SAML_provider.not_found',
    );
  });
});

describe('what a session of an organization reaches', () => {
  test('a token made in it reaches no further, and the rest of the account is out of reach', async () => {
    const principal = await principalOf(await signIn('cleo@example.org'));
    if (principal === null) throw new Error('nobody');
    const { body } = await identity.call(operations.createTokenForAuthenticatedUser, principal, {
      body: { name: 'mine' },
    });
    const other = await identity.call(operations.createUserToken, await identity.admin(), {
      params: { userId: principal.id },
      body: {},
    });
    const byToken = await identity.principalOf(body.token);
    expect(byToken.organizations).toEqual(principal.organizations);
    expect(byToken.signedInBy).toEqual({ method: 'saml', organizationId });
    for (const caller of [principal, byToken]) {
      const tokens = await identity.call(operations.listTokensForAuthenticatedUser, caller, {});
      expect(tokens.body.items.map(({ id }) => id)).toEqual([body.id]);
      const sessions = await identity.call(operations.listSessionsForAuthenticatedUser, caller, {});
      expect(sessions.body.items.map((session) => [session.id, session.address])).toEqual([
        [principal.tokenId, address],
      ]);
      await expectProblem(
        identity.call(operations.deleteTokenForAuthenticatedUser, caller, { params: { tokenId: other.body.id } }),
        'forbidden',
        'token.account',
      );
      await expectProblem(
        identity.call(operations.deleteAuthenticatedUser, caller, { body: { confirmation: 'cleo@example.org' } }),
        'forbidden',
        'user.account',
      );
      await expectProblem(
        identity.call(operations.updateUserById, caller, { params: { userId: caller.id }, body: { displayName: 'M' } }),
        'forbidden',
        'user.account',
      );
    }
  });

  test('it joins no other organization, also not by a link', async () => {
    const stranger = await identity.newUser('Third Founder');
    const params = { organizationId: await found(stranger.token, 'Third') };
    const administrator = await identity.principalOf(stranger.token);
    await identity.call(updateOrganizationById, administrator, { params, body: { inviteLinks: true } });
    const link = await identity.call(operations.createOrganizationInvite, administrator, {
      params,
      body: { role: 'read' },
    });
    const principal = await principalOf(await signIn('cleo@example.org'));
    if (principal === null) throw new Error('nobody');
    const join = { params: { ...params, inviteId: link.body.id } };
    await expectProblem(
      identity.call(operations.joinOrganizationWithInvite, principal, join),
      'forbidden',
      'invite.account',
    );
  });
});

describe('enforcement', () => {
  test('members need a session of the provider, administrators and guests do not; in force at the next request', async () => {
    const member = await identity.newUser('Plain Member');
    await identity.call(operations.putOrganizationMember, await identity.admin(), {
      params: { organizationId, userId: member.id },
      body: { role: 'edit' },
    });
    const reaches = async (token: string) =>
      Object.hasOwn((await identity.principalOf(token)).organizations, organizationId);
    const enforce = async (sso: boolean) =>
      identity.call(updateOrganizationById, await identity.principalOf(owner.token), {
        params: { organizationId },
        body: { sso },
      });
    expect(await reaches(member.token)).toBe(true);
    await enforce(true);
    expect([await reaches(member.token), await reaches(owner.token)]).toEqual([false, true]);
    const principal = await principalOf(await signIn('plain.member@example.org'));
    expect(principal?.id).toBe(member.id);
    expect(Object.keys(principal?.organizations ?? {})).toEqual([organizationId]);
    const { body } = await identity.call(
      listSSOProviderLoginsInOrganization,
      await identity.principalOf(member.token),
      { params: { organizationId } },
    );
    expect(body.items).toHaveLength(1);
    const provider = { params: { organizationId, samlProviderId: providerId } };
    await expectProblem(
      identity.call(deleteOrganizationSAMLProvider, await identity.principalOf(owner.token), provider),
      'conflict',
      'saml_provider.enforced',
    );
    await enforce(false);
    expect(await reaches(member.token)).toBe(true);
  });
});
