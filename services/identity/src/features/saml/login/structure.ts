import { demand, SamlRefusal } from './refusal.ts';
import {
  attributeOf,
  childrenOf,
  everyElement,
  named,
  ns,
  only,
  parsePlainXml,
  textOf,
  type XmlElement,
} from './xml.ts';

const signatureAlgorithms = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
]);
const digestAlgorithms = new Set([
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]);
const exclusiveC14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** Local names that may stand in one place only; wrapping attacks need a second one somewhere. */
const unique = ['Assertion', 'Subject', 'NameID', 'Conditions', 'Status'] as const;
const identifierName = /^(?:xml:)?id$/i;
const ncName = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/;

/** What must hold of one signature before anybody computes with it. */
const checkSignature = (signature: XmlElement, signed: XmlElement): void => {
  const parts = childrenOf(signature);
  const allowed = ['SignedInfo', 'SignatureValue', 'KeyInfo'];
  demand(
    parts.every(({ localName, namespaceURI }) => namespaceURI === ns.signature && allowed.includes(localName ?? '')),
    'structure',
  );
  const info = only(signature, ns.signature, 'SignedInfo');
  demand(info !== undefined && only(signature, ns.signature, 'SignatureValue') !== undefined, 'structure');
  if (info === undefined) return;
  demand(childrenOf(info).length === 3, 'structure');
  const method = (name: string): string => attributeOf(only(info, ns.signature, name), 'Algorithm') ?? '';
  demand(method('CanonicalizationMethod') === exclusiveC14n, 'algorithm');
  demand(signatureAlgorithms.has(method('SignatureMethod')), 'algorithm');
  const reference = only(info, ns.signature, 'Reference');
  demand(reference !== undefined && attributeOf(reference, 'URI') === `#${attributeOf(signed, 'ID')}`, 'structure');
  if (reference === undefined) return;
  demand(childrenOf(reference).length === 3, 'structure');
  const digest = attributeOf(only(reference, ns.signature, 'DigestMethod'), 'Algorithm') ?? '';
  demand(digestAlgorithms.has(digest), 'algorithm');
  demand(/^[A-Za-z0-9+/=\s]{20,200}$/.test(textOf(only(reference, ns.signature, 'DigestValue')) ?? ''), 'structure');
  const transforms = only(reference, ns.signature, 'Transforms');
  const steps = transforms === undefined ? [] : childrenOf(transforms);
  demand(
    steps.length === 2 &&
      steps.every(({ localName, namespaceURI }) => localName === 'Transform' && namespaceURI === ns.signature) &&
      steps.map((step) => attributeOf(step, 'Algorithm')).join(' ') === `${enveloped} ${exclusiveC14n}`,
    'algorithm',
  );
};

/** Facts of a response that its signature covers only when the whole response is signed. */
export interface ResponseFacts {
  readonly inResponseTo: string;
  readonly destination: string;
  readonly issuer: string | undefined;
  readonly responseSigned: boolean;
}

/**
 * Looks at the shape of a response, before any cryptography: one assertion in its one place, each signature the child of
 * what it signs and naming exactly that, every id once, no algorithm that is not on the list. What passes leaves a verifier
 * one way to read it, so that a hole in the verifier is not a hole here.
 * @param unsignedResponse accept a response whose assertion alone is signed
 * @throws SamlRefusal
 */
export const checkStructure = (xml: string, unsignedResponse: boolean): ResponseFacts => {
  const response = parsePlainXml(xml);
  demand(response.localName === 'Response' && response.namespaceURI === ns.protocol, 'structure');
  const all = everyElement(response);

  const ids = new Set<string>();
  for (const element of all)
    for (const { name, value } of Array.from(element.attributes)) {
      if (!identifierName.test(name)) continue;
      demand(ncName.test(value), 'structure');
      demand(!ids.has(value), 'duplicate-id');
      ids.add(value);
    }

  const encrypted = all.some(({ localName }) => localName?.startsWith('Encrypted') === true);
  demand(!encrypted, 'assertions');
  const counted = (name: string): number => all.filter(({ localName }) => localName === name).length;
  demand(counted('Response') === 1, 'structure');
  const [status] = named(response, ns.protocol, 'Status');
  const code = attributeOf(status === undefined ? undefined : only(status, ns.protocol, 'StatusCode'), 'Value');
  demand(code === 'urn:oasis:names:tc:SAML:2.0:status:Success', 'status');
  const assertion = only(response, ns.assertion, 'Assertion');
  demand(assertion !== undefined && counted('Assertion') === 1, 'assertions');
  if (assertion === undefined) throw new SamlRefusal('assertions');
  for (const name of unique) demand(counted(name) === 1, 'structure');
  demand(attributeOf(response, 'ID') !== undefined && attributeOf(assertion, 'ID') !== undefined, 'structure');
  demand(attributeOf(response, 'Version') === '2.0' && attributeOf(assertion, 'Version') === '2.0', 'structure');

  const ofResponse = named(response, ns.signature, 'Signature');
  const ofAssertion = named(assertion, ns.signature, 'Signature');
  demand(ofAssertion.length === 1, 'unsigned');
  demand(ofResponse.length === 1 || (ofResponse.length === 0 && unsignedResponse), 'unsigned');
  demand(counted('Signature') === ofResponse.length + ofAssertion.length, 'structure');
  for (const signature of ofAssertion) checkSignature(signature, assertion);
  for (const signature of ofResponse) checkSignature(signature, response);

  const inResponseTo = attributeOf(response, 'InResponseTo');
  if (inResponseTo === undefined) throw new SamlRefusal('in-response-to');
  const destination = attributeOf(response, 'Destination');
  if (destination === undefined) throw new SamlRefusal('destination');
  const issuers = named(response, ns.assertion, 'Issuer');
  demand(issuers.length <= 1, 'structure');
  return { inResponseTo, destination, issuer: textOf(issuers[0]), responseSigned: ofResponse.length === 1 };
};
