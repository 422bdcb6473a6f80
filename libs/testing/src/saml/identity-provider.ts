import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } from 'samlify';
import { newSigningIdentity, type SigningIdentity } from './certificate.ts';

const urn = 'urn:oasis:names:tc:SAML:2.0';
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const sha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

// The library wants an XSD validator; what we send it is checked by our own tests.
setSchemaValidator({ validate: async () => 'not validated' });

/** A request of a service provider as the browser brings it. */
export interface SamlRequest {
  readonly id: string;
  readonly samlRequest: string;
  readonly relayState: string;
}

/** What an answer says; everything that is left out is as it should be. */
export interface AnswerOptions {
  readonly email?: string;
  readonly nameIdFormat?: string;
  /** Tags of the library's template, such as `Audience`, that are to be something else. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly signResponse?: boolean;
  readonly signAssertion?: boolean;
  readonly algorithm?: string;
  readonly now?: Date;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Where a browser is sent, taken apart. */
export const requestIn = (location: string): { samlRequest: string; relayState: string } => {
  const { searchParams } = new URL(location);
  return { samlRequest: searchParams.get('SAMLRequest') ?? '', relayState: searchParams.get('RelayState') ?? '' };
};

const isoAt = (from: Date, ms: number): string => new Date(from.getTime() + ms).toISOString();
const minute = 60_000;

/**
 * A real identity provider on the library `samlify`, which knows us by our metadata and nothing else.
 * @param options.identity what it signs with; default: a new key
 */
export const createIdentityProvider = (options: {
  readonly entityID: string;
  readonly identity?: SigningIdentity;
  readonly ssoURL?: string;
}) => {
  const { entityID, identity = newSigningIdentity('Test IdP'), ssoURL = 'https://idp.example.org/sso' } = options;
  const providerWith = (algorithm: string, attributes: Readonly<Record<string, string>>) =>
    IdentityProvider({
      entityID,
      privateKey: identity.privateKey,
      signingCert: identity.certificate,
      isAssertionEncrypted: false,
      messageSigningOrder: 'sign-then-encrypt',
      requestSignatureAlgorithm: algorithm,
      nameIDFormat: [emailFormat],
      singleSignOnService: [{ Binding: `${urn}:bindings:HTTP-Redirect`, Location: ssoURL }],
      singleLogoutService: [{ Binding: `${urn}:bindings:HTTP-Redirect`, Location: ssoURL }],
      loginResponseTemplate: {
        context: SamlLib.defaultLoginResponseTemplate.context,
        attributes: Object.keys(attributes).map((name) => ({
          name,
          valueTag: name,
          nameFormat: `${urn}:attrname-format:basic`,
          valueXsiType: 'xs:string',
        })),
      },
    });

  return {
    entityID,
    ssoURL,
    certificate: identity.certificate,
    identity,

    /** Reads a request as a provider does. @param metadata of the service provider */
    async read(metadata: string, request: { samlRequest: string; relayState: string }): Promise<SamlRequest> {
      const sp = ServiceProvider({ metadata });
      const query = { SAMLRequest: request.samlRequest, RelayState: request.relayState };
      const { extract } = await providerWith(sha256, {}).parseLoginRequest(sp, 'redirect', { query });
      const id = extract.request?.id;
      if (typeof id !== 'string') throw new Error('the request has no id');
      return { id, ...request };
    },

    /** Answers a request. @returns the response as XML */
    async answer(metadata: string, requestId: string, answer: AnswerOptions = {}): Promise<string> {
      const { email = 'ada@example.org', signResponse = true, signAssertion = true, algorithm = sha256 } = answer;
      const { now = new Date(), attributes = {} } = answer;
      const sp = ServiceProvider({
        metadata: metadata.replace('WantAssertionsSigned="true"', `WantAssertionsSigned="${signAssertion}"`),
        wantMessageSigned: signResponse,
      });
      const acsURL = String(sp.entityMeta.getAssertionConsumerService('post'));
      const until = isoAt(now, 5 * minute);
      const authn = `<saml:AuthnStatement AuthnInstant="${now.toISOString()}" SessionIndex="${randomUUID()}"><saml:AuthnContext><saml:AuthnContextClassRef>${urn}:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
      const tags = {
        ID: `_${randomUUID()}`,
        AssertionID: `_${randomUUID()}`,
        Destination: acsURL,
        Audience: sp.entityMeta.getEntityID(),
        SubjectRecipient: acsURL,
        AssertionConsumerServiceURL: acsURL,
        Issuer: entityID,
        IssueInstant: now.toISOString(),
        StatusCode: `${urn}:status:Success`,
        ConditionsNotBefore: isoAt(now, -minute),
        ConditionsNotOnOrAfter: until,
        SubjectConfirmationDataNotOnOrAfter: until,
        NameIDFormat: answer.nameIdFormat ?? emailFormat,
        NameID: email,
        InResponseTo: requestId,
        AuthnStatement: authn,
        ...Object.fromEntries(
          Object.entries(attributes).map(([name, value]) => [`attr${name[0]?.toUpperCase()}${name.slice(1)}`, value]),
        ),
        ...answer.tags,
      };
      const { context } = await providerWith(algorithm, attributes).createLoginResponse(
        sp,
        { extract: { request: { id: requestId } } },
        'post',
        { email },
        {
          customTagReplacement: (template) => ({
            id: tags.ID,
            context: SamlLib.replaceTagsByValue(template.replaceAll('{AuthnStatement}', authn), tags),
          }),
        },
      );
      return Buffer.from(context, 'base64').toString('utf8');
    },
  };
};

export type TestIdentityProvider = ReturnType<typeof createIdentityProvider>;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Serves the sign-in page of an identity provider: one button that sends the answer on.
 * @param metadata our metadata, asked for at every request
 */
export const serveIdentityProvider = async (options: {
  readonly provider: (ssoURL: string) => TestIdentityProvider;
  readonly metadata: () => Promise<string>;
  readonly email: () => string;
  /** Host that browsers call it by; default `127.0.0.1`. */
  readonly host?: string;
}): Promise<{ readonly provider: TestIdentityProvider; close(): Promise<void> }> => {
  let provider: TestIdentityProvider | undefined;
  const page = async (url: string): Promise<string> => {
    if (provider === undefined) throw new Error('not started');
    const metadata = await options.metadata();
    const request = await provider.read(metadata, requestIn(new URL(url, provider.ssoURL).href));
    const { relayState, id } = request;
    const response = Buffer.from(await provider.answer(metadata, id, { email: options.email() })).toString('base64');
    const acs = /Location="([^"]+)"/.exec(metadata)?.[1] ?? '';
    return `<!doctype html><title>Identity provider</title><form method="post" action="${acs}">
<input type="hidden" name="SAMLResponse" value="${response}"><input type="hidden" name="RelayState" value="${escaped(relayState)}">
<button type="submit">Sign in</button></form>`;
  };
  const server = createServer((request, response) => {
    page(request.url ?? '/').then(
      (html) => response.writeHead(200, { 'content-type': 'text/html' }).end(html),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  provider = options.provider(`http://${options.host ?? '127.0.0.1'}:${port}/sso`);
  return {
    provider,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
