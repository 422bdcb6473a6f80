import { deflateRawSync } from 'node:zlib';
import type { AnswerOptions, TestIdentityProvider } from '@bindery/testing/saml';
import type { RefusalReason } from './login/refusal.ts';

/** What forgeries are made from: a provider, and the metadata and request that a genuine answer would be for. */
export interface Forge {
  readonly provider: TestIdentityProvider;
  /** Another one, whose key we do not know. */
  readonly stranger: TestIdentityProvider;
  readonly metadata: string;
  readonly requestId: string;
  readonly now: Date;
}

/** One forged answer, made from a genuine one. */
export interface Forgery {
  readonly name: string;
  readonly reason: RefusalReason;
  /** @returns what is sent as `SAMLResponse` */
  make(forge: Forge): Promise<string>;
}

/** As an answer travels. */
export const inBase64 = (xml: string): string => Buffer.from(xml).toString('base64');

const minute = 60_000;
const victim = 'victim@example.org';
const plain = new WeakMap<Forge, Promise<string>>();
/** A genuine answer; the plain one is made once, since most forgeries begin with it. */
const genuine = (forge: Forge, options?: AnswerOptions): Promise<string> => {
  const { provider, metadata, requestId, now } = forge;
  if (options !== undefined) return provider.answer(metadata, requestId, { now, ...options });
  const made = plain.get(forge) ?? provider.answer(metadata, requestId, { now });
  plain.set(forge, made);
  return made;
};

const assertionIn = (xml: string): string => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
const signatureIn = (xml: string): string => /<ds:Signature [\s\S]*?<\/ds:Signature>/.exec(xml)?.[0] ?? '';
const unsigned = (xml: string): string => xml.replaceAll(/<ds:Signature [\s\S]*?<\/ds:Signature>/g, '');
const responseSignature = (xml: string): string => signatureIn(xml.slice(0, xml.indexOf('<saml:Assertion')));
/** The assertion with another person in it and another id. */
const evil = (assertion: string): string =>
  assertion.replace('ada@example.org', victim).replace(/ID="_[^"]+"/, 'ID="_evil"');
/** A response with other ids and another person, which still carries the signature of the original. */
const forgedAround = (xml: string): string => {
  const original = assertionIn(xml);
  return xml.replace(original, evil(unsigned(original))).replace(/ID="_[^"]+"/, 'ID="_forged"');
};
const inObject = (signature: string, content: string): string =>
  signature.replace('</ds:Signature>', `<ds:Object>${content}</ds:Object></ds:Signature>`);

const changed = (
  name: string,
  reason: RefusalReason,
  change: (xml: string) => string,
  options?: AnswerOptions,
): Forgery => ({ name, reason, make: async (forge) => inBase64(change(await genuine(forge, options))) });
const signed = (name: string, reason: RefusalReason, options: (forge: Forge) => AnswerOptions): Forgery => ({
  name,
  reason,
  make: async (forge) => inBase64(await genuine(forge, options(forge))),
});
const iso = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

const wrapping: readonly Forgery[] = [
  changed('XSW1: the original response in the signature of a forged one', 'structure', (xml) => {
    const signature = responseSignature(xml);
    return forgedAround(xml).replace(signature, inObject(signature, xml.replace(signature, '')));
  }),
  changed('XSW2: the original response before the signature of a forged one', 'structure', (xml) => {
    const signature = responseSignature(xml);
    return forgedAround(xml).replace(signature, `${xml.replace(signature, '')}${signature}`);
  }),
  changed('XSW2 with the ids as they were', 'duplicate-id', (xml) => {
    const signature = responseSignature(xml);
    return xml.replace(signature, `${xml.replace(signature, '')}${signature}`);
  }),
  changed('XSW3: a forged assertion before the original', 'assertions', (xml) =>
    xml.replace('<saml:Assertion', `${evil(unsigned(assertionIn(xml)))}<saml:Assertion`),
  ),
  changed('XSW3 reversed: a forged assertion after the original', 'assertions', (xml) =>
    xml.replace('</samlp:Response>', `${evil(unsigned(assertionIn(xml)))}</samlp:Response>`),
  ),
  changed('XSW4: the original assertion inside a forged one', 'assertions', (xml) => {
    const original = assertionIn(xml);
    return xml.replace(original, evil(unsigned(original)).replace('</saml:Assertion>', `${original}</saml:Assertion>`));
  }),
  changed('XSW5: a forged assertion with the signature, the original without after it', 'assertions', (xml) => {
    const original = assertionIn(xml);
    return xml.replace(original, `${evil(original)}${unsigned(original)}`);
  }),
  changed('XSW6: the original assertion inside the signature of a forged one', 'assertions', (xml) => {
    const original = assertionIn(xml);
    const signature = signatureIn(original);
    return xml.replace(original, evil(original).replace(signature, inObject(signature, unsigned(original))));
  }),
  changed('XSW7: a forged assertion in extensions', 'assertions', (xml) =>
    xml.replace(
      '<samlp:Status>',
      `<samlp:Extensions>${evil(unsigned(assertionIn(xml)))}</samlp:Extensions><samlp:Status>`,
    ),
  ),
  changed('XSW8: the original assertion in an object of the signature', 'assertions', (xml) => {
    const original = assertionIn(xml);
    const signature = signatureIn(original);
    return xml.replace(original, evil(original).replace(signature, inObject(signature, original)));
  }),
  changed('a forged assertion under the name of another namespace', 'assertions', (xml) =>
    xml.replace('<samlp:Status>', `<x:Assertion xmlns:x="urn:x" ID="_evil"><x:Subject/></x:Assertion><samlp:Status>`),
  ),
  changed('a second subject in the assertion', 'structure', (xml) =>
    xml.replace('<saml:Subject>', `<saml:Subject><saml:NameID>${victim}</saml:NameID></saml:Subject><saml:Subject>`),
  ),
];

const signatures: readonly Forgery[] = [
  changed('no signatures', 'unsigned', unsigned),
  changed('signature of the assertion stripped', 'unsigned', (xml) => {
    const original = assertionIn(xml);
    return xml.replace(original, unsigned(original));
  }),
  signed('assertion alone signed', 'unsigned', () => ({ signResponse: false })),
  signed('response alone signed', 'unsigned', () => ({ signAssertion: false })),
  changed('signature over another element', 'structure', (xml) => {
    const id = /<samlp:Response[^>]* ID="([^"]+)"/.exec(xml)?.[1] ?? '';
    const original = assertionIn(xml);
    return xml.replace(original, original.replace(/Reference URI="#[^"]+"/, `Reference URI="#${id}"`));
  }),
  changed('signature over the whole document', 'structure', (xml) =>
    xml.replace(/Reference URI="#[^"]+"/, 'Reference URI=""'),
  ),
  changed('the person changed after signing', 'signature', (xml) => xml.replace('ada@example.org', victim)),
  changed('an attribute changed after signing', 'signature', (xml) => xml.replace('Ada', 'Eve'), {
    attributes: { displayName: 'Ada' },
  }),
  changed('an empty signature value', 'signature', (xml) =>
    xml.replaceAll(/<ds:SignatureValue>[^<]+</g, '<ds:SignatureValue><'),
  ),
  changed('a second reference', 'structure', (xml) => {
    const reference = /<ds:Reference [\s\S]*?<\/ds:Reference>/.exec(xml)?.[0] ?? '';
    return xml.replace(reference, `${reference}${reference}`);
  }),
  changed('a second SignedInfo', 'structure', (xml) => {
    const info = /<ds:SignedInfo>[\s\S]*?<\/ds:SignedInfo>/.exec(xml)?.[0] ?? '';
    return xml.replace(info, `${info}${info}`);
  }),
  changed('a comment in the digest', 'markup', (xml) => xml.replace('<ds:DigestValue>', '<ds:DigestValue><!--x-->')),
  changed('an XSLT transform', 'algorithm', (xml) =>
    xml.replace('http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/TR/1999/REC-xslt-19991116'),
  ),
  changed('a third transform', 'algorithm', (xml) =>
    xml.replace(
      '</ds:Transforms>',
      '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>',
    ),
  ),
  changed('canonicalization with comments', 'algorithm', (xml) =>
    xml.replaceAll('http://www.w3.org/2001/10/xml-exc-c14n#"', 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments"'),
  ),
  signed('SHA-1', 'algorithm', () => ({ algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' })),
  changed('HMAC with the public key', 'algorithm', (xml) =>
    xml.replaceAll('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'),
  ),
  {
    name: 'a key of somebody else, sent along',
    reason: 'signature',
    make: async ({ provider, stranger, metadata, requestId, now }) =>
      inBase64(await stranger.answer(metadata, requestId, { now, tags: { Issuer: provider.entityID } })),
  },
  {
    name: 'another identity provider',
    reason: 'issuer',
    make: async ({ stranger, metadata, requestId, now }) =>
      inBase64(await stranger.answer(metadata, requestId, { now })),
  },
];

const meant: readonly Forgery[] = [
  signed('another audience', 'audience', () => ({ tags: { Audience: 'https://elsewhere.example.org' } })),
  changed('no audience, signed so', 'signature', (xml) =>
    xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, ''),
  ),
  signed('another recipient', 'recipient', () => ({ tags: { SubjectRecipient: 'https://elsewhere.example.org/acs' } })),
  signed('another destination', 'destination', () => ({ tags: { Destination: 'https://elsewhere.example.org/acs' } })),
  changed('no destination', 'destination', (xml) => xml.replace(/ Destination="[^"]+"/, '')),
  signed('another request', 'in-response-to', () => ({ tags: { InResponseTo: '_other' } })),
  signed('an empty request', 'in-response-to', () => ({ tags: { InResponseTo: '' } })),
  changed('no request', 'in-response-to', (xml) => xml.replaceAll(/ InResponseTo="[^"]+"/g, '')),
  signed('a failure', 'status', () => ({ tags: { StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Responder' } })),
  signed('expired', 'time', ({ now }) => ({ tags: { ConditionsNotOnOrAfter: iso(now, -2 * minute) } })),
  signed('confirmation expired', 'time', ({ now }) => ({
    tags: { SubjectConfirmationDataNotOnOrAfter: iso(now, -2 * minute) },
  })),
  signed('not yet valid', 'time', ({ now }) => ({ tags: { ConditionsNotBefore: iso(now, 3 * minute) } })),
  signed('issued in the future', 'time', ({ now }) => ({ tags: { IssueInstant: iso(now, 5 * minute) } })),
  signed('issued long ago, valid for years', 'time', ({ now }) => ({
    now: new Date(now.getTime() - 60 * minute),
    tags: {
      ConditionsNotOnOrAfter: iso(now, 10_000 * minute),
      SubjectConfirmationDataNotOnOrAfter: iso(now, 10_000 * minute),
    },
  })),
  signed('no time of expiry that can be read', 'signature', () => ({ tags: { ConditionsNotOnOrAfter: 'never' } })),
  signed('an address that is none', 'email', () => ({ email: 'ada' })),
  signed('an address with a second one', 'email', () => ({ email: 'ada@example.org, eve@example.org' })),
  signed('an address that only looks like another', 'email', () => ({ email: '\u212Ate@example.org' })),
  signed('an address of another domain', 'domain', () => ({ email: 'ada@elsewhere.example' })),
  signed('an address of a domain below', 'domain', () => ({ email: 'ada@example.org.elsewhere.example' })),
];

const markup: readonly Forgery[] = [
  changed('a comment in the NameID', 'markup', (xml) =>
    xml.replace('ada@example.org', 'ada@example.org<!--x-->.evil.example'),
  ),
  changed('a processing instruction in the NameID', 'markup', (xml) =>
    xml.replace('ada@example.org', 'ada@example.org<?x?>.evil.example'),
  ),
  changed('CDATA in the NameID', 'markup', (xml) => xml.replace('ada@example.org', '<![CDATA[ada@example.org]]>')),
  changed('an element in the NameID', 'signature', (xml) =>
    xml.replace('ada@example.org', 'ada@example.org<x/>.evil.example'),
  ),
  changed('a document type', 'markup', (xml) => `<!DOCTYPE Response>${xml}`),
  changed(
    'an external entity',
    'markup',
    (xml) => `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${xml.replace('ada@example.org', '&x;')}`,
  ),
  changed(
    'entities that grow',
    'markup',
    (xml) =>
      `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${xml.replace('ada@example.org', '&b;')}`,
  ),
  changed('an id twice', 'duplicate-id', (xml) => {
    const id = /<saml:Assertion[^>]* ID="([^"]+)"/.exec(xml)?.[1] ?? '';
    return xml.replace(
      '<samlp:Status>',
      `<samlp:Extensions><x xmlns="urn:x" Id="${id}"/></samlp:Extensions><samlp:Status>`,
    );
  }),
  changed('an encrypted assertion', 'assertions', (xml) => xml.replaceAll('saml:Assertion', 'saml:EncryptedAssertion')),
  changed('not well-formed', 'markup', (xml) => xml.replace('</samlp:Response>', '')),
  changed('two roots', 'markup', (xml) => `${xml}${xml}`),
  changed('no assertion', 'assertions', (xml) => xml.replace(assertionIn(xml), '')),
  {
    name: 'deeply nested',
    reason: 'structure',
    make: async () => inBase64(`${'<a>'.repeat(3000)}${'</a>'.repeat(3000)}`),
  },
  { name: 'many elements', reason: 'structure', make: async () => inBase64(`<a>${'<b/>'.repeat(20_000)}</a>`) },
  { name: 'not XML', reason: 'markup', make: async () => inBase64('{"email":"ada@example.org"}') },
  { name: 'not base64', reason: 'encoding', make: async () => '%%%' },
  { name: 'not UTF-8', reason: 'encoding', make: async () => Buffer.from([0x3c, 0xff, 0xfe, 0x3e]).toString('base64') },
  {
    name: 'a bomb of compressed zeros',
    reason: 'encoding',
    make: async () => deflateRawSync(Buffer.alloc(50_000_000)).toString('base64'),
  },
  {
    name: 'compressed as in the other binding',
    reason: 'encoding',
    make: async (forge) => deflateRawSync(await genuine(forge)).toString('base64'),
  },
  { name: '5 MB', reason: 'too-large', make: async () => 'QUFB'.repeat(1_310_720) },
  { name: 'a little too large', reason: 'too-large', make: async () => inBase64(`<a>${'x'.repeat(257 * 1024)}</a>`) },
];

/** Answers that must not be believed, each with the reason that the log gives. */
export const forgeries: readonly Forgery[] = [...wrapping, ...signatures, ...meant, ...markup];
