import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '@bindery/contracts';
import type { EventStore } from '@bindery/event-store';
import { createIdentityProvider, requestIn, type TestIdentityProvider } from '@bindery/testing/saml';
import { manualClock, startIdentity, type TestIdentity } from '../../../api/testing.ts';
import { tokenHashOf } from '../../tokens/index.ts';
import { inBase64 } from '../testing.ts';

/** Where the instance is, and where its browsers are. */
export const publicUrl = 'https://docs.example.org';
export const address = '203.0.113.7';

/** The raw routes of the service behind a plain server, as the gateway mounts them. */
const serve = (service: TestIdentity['service'], now: () => Date): Server =>
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
      const context = { requestId: 'request-1', params, query, signal, now: now(), baseUrl: publicUrl, address };
      route.handle(request, response, context).catch(() => response.writeHead(500).end());
      return;
    }
    response.writeHead(404).end();
  });

const cookieIn = (response: Response, name: string): string | undefined =>
  response.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`__Host-bindery_${name}=`))
    ?.split(';')[0];

/**
 * An instance with an organization of the domain `example.org` whose provider is active, and what a browser does there.
 * @param unsignedResponsesFrom entity ids of providers whose assertion alone is enough
 * @param between puts something between the service and its event store
 */
export const startSaml = async (
  unsignedResponsesFrom: readonly string[] = [],
  between: (store: EventStore) => EventStore = (store) => store,
) => {
  const clock = manualClock(new Date().toISOString());
  const identity = await startIdentity({ clock, between, options: { saml: { unsignedResponsesFrom } } });
  const server = serve(identity.service, () => clock.now());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const idp = createIdentityProvider({ entityID: 'https://idp.example.org/metadata' });

  const found = async (token: string, title: string): Promise<string> => {
    const body = { title, emailDomains: ['example.org'] };
    return (await identity.call(operations.createOrganization, await identity.principalOf(token), { body })).body.id;
  };
  const addProvider = async (
    organization: string,
    token: string,
    { entityID, ssoURL, certificate }: TestIdentityProvider,
    defaultRole: 'edit' | 'read',
  ): Promise<string> => {
    const body = { label: 'Company', entityID, ssoURL, certificate, defaultRole };
    const params = { organizationId: organization };
    const principal = await identity.principalOf(token);
    return (await identity.call(operations.createOrganizationSAMLProvider, principal, { params, body })).body.id;
  };
  const owner = await identity.newUser('Olga Owner');
  const organizationId = await found(owner.token, 'Single sign-on');
  const providerId = await addProvider(organizationId, owner.token, idp, 'edit');

  const at = (path: string): string => `${local}/saml/${path}`;
  const known = new Map<string, string>();
  const metadataOf = async (id = providerId): Promise<string> => {
    const metadata = known.get(id) ?? (await (await fetch(at(`${id}/metadata`))).text());
    known.set(id, metadata);
    return metadata;
  };
  /** Begins as a browser does. */
  const begin = async (id = providerId, returnTo = '', provider = idp) => {
    const response = await fetch(at(`${id}/start${returnTo}`), { redirect: 'manual' });
    const request = await provider.read(await metadataOf(id), requestIn(response.headers.get('location') ?? ''));
    return { ...request, cookie: cookieIn(response, 'saml') ?? '' };
  };
  const post = (samlResponse: string, relayState: string | undefined, id = providerId) =>
    fetch(at(`${id}/acs`), {
      method: 'POST',
      redirect: 'manual',
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
    const { body } = await identity.call(operations.resolveSession, await identity.admin(), {
      body: { sessionHash: tokenHashOf(secret) },
    });
    return body.principal;
  };
  return {
    ...{ clock, identity, idp, owner, organizationId, providerId, found, addProvider },
    ...{ at, metadataOf, begin, post, finish, answerAs, signIn, principalOf },
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await identity.dispose();
    },
  };
};

export type TestSaml = Awaited<ReturnType<typeof startSaml>>;
