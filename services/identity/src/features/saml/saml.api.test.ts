import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '@bindery/contracts';
import {
  createIdentityProvider,
  newSigningIdentity,
  requestIn,
  type TestIdentityProvider,
} from '@bindery/testing/saml';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, manualClock, startIdentity, type TestIdentity } from '../../api/testing.ts';
import { tokenHashOf } from '../tokens/index.ts';
import { type Forge, forgeries, inBase64 } from './testing.ts';

const { createOrganization, createOrganizationSAMLProvider, getMemberInOrganizationById, resolveSession } = operations;
const { listSSOProviderLoginsInOrganization, updateOrganizationById, updateOrganizationSAMLProvider } = operations;
const { deleteOrganizationSAMLProvider, getOrganizationSAMLProviderById, listSAMLProvidersInOrganizationById } =
  operations;
const clock = manualClock(new Date().toISOString());
const publicUrl = 'https://docs.example.org';

let identity: TestIdentity;
let server: Server;
let local: string;
let idp: TestIdentityProvider;
let owner: { id: string; token: string };
let organizationId: string;
let providerId: string;

/** The raw routes of the service behind a plain server, as the gateway mounts them. */
const serve = (service: TestIdentity['service']): Server =>
  createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    for (const route of service.rawRoutes) {
      const pattern = new RegExp(`^${route.path.replaceAll(/\{\w+\*?\}/g, '([^/]+)')}$`);
      const values = pattern.exec(path);
      if (
        values === null ||
        !(route.method === request.method || (route.method === 'GET' && request.method === 'HEAD'))
      )
        continue;
      const names = [...route.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => name);
      const params = Object.fromEntries(names.map((name, index) => [name, values[index + 1] ?? '']));
      const signal = new AbortController().signal;
      const context = { requestId: 'request-1', params, query, signal, now: clock.now(), baseUrl: publicUrl };
      route.handle(request, response, context).catch(() => response.writeHead(500).end());
      return;
    }
    response.writeHead(404).end();
  });

beforeAll(async () => {
  identity = await startIdentity({ clock });
  server = serve(identity.service);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  idp = createIdentityProvider({ entityID: 'https://idp.example.org/metadata' });
  owner = await identity.newUser('Olga Owner');
  const created = await identity.call(createOrganization, await identity.principalOf(owner.token), {
    body: { title: 'Single sign-on', emailDomains: ['example.org'] },
  });
  organizationId = created.body.id;
  providerId = await addProvider(organizationId, owner.token, idp, 'edit');
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await identity.dispose();
});

const addProvider = async (
  organization: string,
  token: string,
  { entityID, ssoURL, certificate }: TestIdentityProvider,
  defaultRole: 'edit' | 'read',
): Promise<string> => {
  const body = { label: 'Company', entityID, ssoURL, certificate, defaultRole };
  const principal = await identity.principalOf(token);
  const { body: provider } = await identity.call(createOrganizationSAMLProvider, principal, {
    params: { organizationId: organization },
    body,
  });
  return provider.id;
};

const at = (path: string): string => `${local}/saml/${path}`;
const known = new Map<string, string>();
const metadataOf = async (id = providerId): Promise<string> => {
  const metadata = known.get(id) ?? (await (await fetch(at(`${id}/metadata`))).text());
  known.set(id, metadata);
  return metadata;
};
const cookieIn = (response: Response, name: string): string | undefined =>
  response.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`__Host-bindery_${name}=`))
    ?.split(';')[0];

/** Begins as a browser does. */
const begin = async (id = providerId, returnTo = '') => {
  const response = await fetch(at(`${id}/start${returnTo}`), { redirect: 'manual' });
  const request = await idp.read(await metadataOf(id), requestIn(response.headers.get('location') ?? ''));
  return { ...request, cookie: cookieIn(response, 'saml') ?? '' };
};
const post = (samlResponse: string, relayState: string | undefined, id = providerId, headers = {}) =>
  fetch(at(`${id}/acs`), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({
      SAMLResponse: samlResponse,
      ...(relayState === undefined ? {} : { RelayState: relayState }),
    }),
  });
const finish = (answered: Response, cookie: string) =>
  fetch(`${local}${answered.headers.get('location')}`, { redirect: 'manual', headers: { cookie } });

/** A login up to the answer. */
const answerAs = async (email: string, id = providerId, returnTo = '') => {
  const request = await begin(id, returnTo);
  const answer = inBase64(await idp.answer(await metadataOf(id), request.id, { email, now: clock.now() }));
  return { answered: await post(answer, request.relayState, id), cookie: request.cookie };
};
/** A whole login. @returns the last answer */
const signIn = async (email: string, id = providerId, returnTo = '') => {
  const { answered, cookie } = await answerAs(email, id, returnTo);
  return finish(answered, cookie);
};
const principalOf = async (response: Response) => {
  const secret = (cookieIn(response, 'session') ?? '').split('=')[1] ?? '';
  const { body } = await identity.call(resolveSession, await identity.admin(), {
    body: { sessionHash: tokenHashOf(secret) },
  });
  return body.principal;
};

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

describe('forged answers', () => {
  const stranger = createIdentityProvider({ entityID: 'https://stranger.example.org' });
  let page: string;
  let forge: Forge;
  let relayState: string;
  beforeAll(async () => {
    page = await (await post('x', undefined)).text();
    // One request for all of them: what is refused uses nothing up.
    const request = await begin();
    relayState = request.relayState;
    forge = { provider: idp, stranger, metadata: await metadataOf(), requestId: request.id, now: clock.now() };
  });

  test(`there are enough of them (${forgeries.length})`, () => {
    expect(forgeries.length).toBeGreaterThanOrEqual(70);
    expect(new Set(forgeries.map(({ name }) => name)).size).toBe(forgeries.length);
  });

  test.each(forgeries)('refused: $name', async ({ make, reason }) => {
    const logged: unknown[] = [];
    const answer = await make(forge);
    const { warn } = identity.ports.telemetry.logger;
    Object.assign(identity.ports.telemetry.logger, { warn: (_text: string, fields: unknown) => logged.push(fields) });
    const response = await post(answer, relayState).catch((error: unknown) => {
      // A body that is cut off may take the connection with it before its answer is read.
      if (reason === 'too-large') return undefined;
      throw error;
    });
    Object.assign(identity.ports.telemetry.logger, { warn });
    if (response !== undefined) {
      expect([response.status, response.headers.getSetCookie(), await response.text()]).toEqual([403, [], page]);
    }
    expect(logged).toEqual([{ requestId: 'request-1', providerId, organizationId, reason }]);
  });

  test('the genuine one that they are made from is accepted', async () => {
    const { provider, metadata, requestId, now } = forge;
    const answer = inBase64(await provider.answer(metadata, requestId, { now }));
    expect((await post(answer, relayState)).status).toBe(303);
  });
});

describe('other organizations', () => {
  let other: string;
  let otherProvider: string;
  beforeAll(async () => {
    const attacker = await identity.newUser('Mallory');
    const created = await identity.call(createOrganization, await identity.principalOf(attacker.token), {
      body: { title: 'Elsewhere', emailDomains: ['example.org'] },
    });
    other = created.body.id;
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
      expect(sessions.body.items.map(({ id }) => id)).toEqual([principal.tokenId]);
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
    const body = { title: 'Third', emailDomains: ['example.org'] };
    const founder = await identity.principalOf(stranger.token);
    const created = await identity.call(createOrganization, founder, { body });
    const params = { organizationId: created.body.id };
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

describe('a provider that cannot sign responses', () => {
  test('is believed when the operator says so, and no other', async () => {
    const relaxed = await startIdentity({ clock, options: { saml: { unsignedResponsesFrom: [idp.entityID] } } });
    const other = serve(relaxed.service);
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/saml`;
    const admin = await relaxed.admin();
    const id = relaxed.organizationId;
    await relaxed.call(updateOrganizationById, admin, {
      params: { organizationId: id },
      body: { emailDomains: ['example.org'] },
    });
    const { entityID, ssoURL, certificate } = idp;
    const { body } = await relaxed.call(createOrganizationSAMLProvider, admin, {
      params: { organizationId: id },
      body: { label: 'Assertions only', entityID, ssoURL, certificate },
    });
    const metadata = await (await fetch(`${url}/${body.id}/metadata`)).text();
    const answered = async (change: (xml: string) => string, signResponse = false): Promise<number> => {
      const started = await fetch(`${url}/${body.id}/start`, { redirect: 'manual' });
      const request = await idp.read(metadata, requestIn(started.headers.get('location') ?? ''));
      const xml = await idp.answer(metadata, request.id, { signResponse, now: clock.now() });
      const form = new URLSearchParams({ SAMLResponse: inBase64(change(xml)), RelayState: request.relayState });
      const response = await fetch(`${url}/${body.id}/acs`, { method: 'POST', redirect: 'manual', body: form });
      return response.status;
    };
    const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/;
    const forged = (xml: string): string =>
      (assertion.exec(xml)?.[0] ?? '')
        .replaceAll(/<ds:Signature [\s\S]*?<\/ds:Signature>/g, '')
        .replace('ada@', 'victim@')
        .replace(/ID="_[^"]+"/, 'ID="_evil"');
    expect(await answered((xml) => xml)).toBe(303);
    expect(await answered((xml) => xml, true)).toBe(303);
    expect(await answered((xml) => xml.replace('ada@', 'victim@'))).toBe(403);
    expect(await answered((xml) => xml.replace(/<ds:Signature [\s\S]*?<\/ds:Signature>/, ''))).toBe(403);
    expect(await answered((xml) => xml.replace('<saml:Assertion', `${forged(xml)}<saml:Assertion`))).toBe(403);
    expect(await answered((xml) => xml.replace(assertion, forged))).toBe(403);
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    await relaxed.dispose();
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
