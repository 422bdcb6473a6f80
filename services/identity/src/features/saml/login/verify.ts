import { isUtf8 } from 'node:buffer';
import { type CacheProvider, SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { ProviderAddresses } from '../addresses.ts';
import type { ActiveProvider } from '../read-model.ts';
import { type Claims, longestAgeMs, readAssertion, skewMs } from './assertion.ts';
import { demand, SamlRefusal } from './refusal.ts';
import { checkStructure } from './structure.ts';

/** The largest response that is looked at, in bytes; one with 150 groups has some 40,000. */
export const mostResponseBytes = 256 * 1024;
/** Time that somebody has for signing in at the identity provider, in ms. */
export const loginMs = 10 * 60_000;

/** Remembers nothing between calls: which requests were answered is kept in the event store. */
const requestsOf = (requestId: string): CacheProvider => ({
  saveAsync: async (_key, value) => ({ value, createdAt: Date.parse(value) || Date.now() }),
  getAsync: async (key) => (key === requestId ? new Date().toISOString() : null),
  removeAsync: async (key) => key,
});

/** The library for one provider and one request, as strict as it can be. */
export const samlFor = (
  provider: ActiveProvider,
  addresses: ProviderAddresses,
  requestId: string,
  unsignedResponse: boolean,
): SAML =>
  new SAML({
    callbackUrl: addresses.acsURL,
    issuer: addresses.entityID,
    audience: addresses.entityID,
    entryPoint: provider.ssoURL,
    idpIssuer: provider.entityID,
    idpCert: [...provider.certificates],
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: !unsignedResponse,
    validateInResponseTo: ValidateInResponseTo.always,
    requestIdExpirationPeriodMs: loginMs,
    cacheProvider: requestsOf(requestId),
    acceptedClockSkewMs: skewMs,
    maxAssertionAgeMs: longestAgeMs,
    identifierFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
    // Which way somebody proves who it is, is the provider's affair: asking for a password would shut out passkeys.
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    generateUniqueId: () => requestId,
  });

/** @throws SamlRefusal */
const decode = (base64: string): string => {
  demand(base64.length <= (mostResponseBytes * 4) / 3 + 2000, 'too-large');
  const compact = base64.replaceAll(/[\r\n\t ]/g, '');
  demand(/^[A-Za-z0-9+/]+={0,2}$/.test(compact) && compact.length % 4 === 0, 'encoding');
  const bytes = Buffer.from(compact, 'base64');
  demand(bytes.length <= mostResponseBytes, 'too-large');
  demand(isUtf8(bytes), 'encoding');
  return bytes.toString('utf8');
};

/**
 * Verifies an answer of an identity provider: first its shape, then its signatures through the library, then, on the bytes
 * that the library verified, everything that the assertion says about whom it is for, when, and for which request. The last
 * step repeats what the library checks, and adds what it leaves out (recipient, destination, issuer).
 * @throws SamlRefusal
 */
export const verifyResponse = async (
  samlResponse: string,
  login: {
    readonly provider: ActiveProvider;
    readonly addresses: ProviderAddresses;
    readonly requestId: string;
    readonly unsignedResponse: boolean;
    readonly now: Date;
  },
): Promise<Claims> => {
  const { provider, addresses, requestId, now } = login;
  const xml = decode(samlResponse);
  const facts = checkStructure(xml, login.unsignedResponse);
  demand(facts.destination === addresses.acsURL, 'destination');
  demand(facts.inResponseTo === requestId, 'in-response-to');
  demand(facts.issuer === undefined || facts.issuer === provider.entityID, 'issuer');
  const expected = {
    issuer: provider.entityID,
    audience: addresses.entityID,
    recipient: addresses.acsURL,
    inResponseTo: requestId,
    now,
  };
  const saml = samlFor(provider, addresses, requestId, !facts.responseSigned);
  const verified = await verifiedAssertion(saml, xml);
  return readAssertion(verified, expected);
};

const verifiedAssertion = async (saml: SAML, xml: string): Promise<string> => {
  let verified: string | undefined;
  try {
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') });
    verified = profile?.getAssertionXml?.();
  } catch (error) {
    throw new SamlRefusal(reasonOf(error));
  }
  if (verified === undefined) throw new SamlRefusal('signature');
  return verified;
};

/** The library tells by messages alone; they name what they expected and what came, so that only these words leave here. */
const reasonOf = (error: unknown): 'signature' | 'audience' | 'time' | 'in-response-to' => {
  const message = error instanceof Error ? error.message : '';
  if (/audience/i.test(message)) return 'audience';
  if (/InResponseTo/.test(message)) return 'in-response-to';
  if (/expired|not yet valid|clock|subject confirmation/i.test(message)) return 'time';
  return 'signature';
};
