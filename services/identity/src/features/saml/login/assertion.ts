import { demand, SamlRefusal } from './refusal.ts';
import { attributeOf, named, ns, only, parsePlainXml, textOf, type XmlElement } from './xml.ts';

/** What an assertion must say to be meant for this login. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly recipient: string;
  readonly inResponseTo: string;
  readonly now: Date;
}

/** What a verified assertion says about a person. */
export interface Claims {
  readonly assertionId: string;
  readonly email: string;
  readonly displayName: string | undefined;
}

/** Clocks may differ by this, in ms. */
export const skewMs = 60_000;
/** No assertion is accepted later than this after it was issued, whatever it says itself, in ms. */
export const longestAgeMs = 10 * 60_000;

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const unspecifiedFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

const emailNames = new Set([
  'email',
  'mail',
  'emailaddress',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
]);
const displayNames = new Set([
  'displayname',
  'http://schemas.microsoft.com/identity/claims/displayname',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'cn',
  'urn:oid:2.5.4.3',
]);
const givenNames = new Set([
  'firstname',
  'givenname',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
  'urn:oid:2.5.4.42',
]);
const surnames = new Set([
  'lastname',
  'surname',
  'sn',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
  'urn:oid:2.5.4.4',
]);

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const timeOf = (text: string | undefined): number => {
  if (text === undefined || !instant.test(text)) throw new SamlRefusal('time');
  const time = Date.parse(text.replace(/(\.\d{3})\d+Z$/, '$1Z'));
  demand(Number.isFinite(time), 'time');
  return time;
};

/** ASCII only: what looks like another address, or becomes one in lower case, is none. */
const emailShape =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,62}$/;
const longestEmail = 254;
const isEmail = (text: string | undefined): text is string =>
  text !== undefined && text.length <= longestEmail && emailShape.test(text);

/** The one value of an attribute by any of its names; undefined unless there is exactly one. */
const attributeValueOf = (assertion: XmlElement, names: ReadonlySet<string>): string | undefined => {
  const values = named(assertion, ns.assertion, 'AttributeStatement')
    .flatMap((statement) => named(statement, ns.assertion, 'Attribute'))
    .filter((attribute) => names.has((attributeOf(attribute, 'Name') ?? '').toLowerCase()))
    .flatMap((attribute) => named(attribute, ns.assertion, 'AttributeValue'))
    .map(textOf)
    .filter((text) => text !== undefined && text !== '');
  return new Set(values).size === 1 ? values[0] : undefined;
};

const emailOf = (assertion: XmlElement, subject: XmlElement): string => {
  const nameId = only(subject, ns.assertion, 'NameID');
  const format = attributeOf(nameId, 'Format') ?? unspecifiedFormat;
  const name = textOf(nameId);
  if (nameId === undefined || name === undefined || name === '') throw new SamlRefusal('email');
  if (format === emailFormat) {
    if (!isEmail(name)) throw new SamlRefusal('email');
    return name;
  }
  const attribute = attributeValueOf(assertion, emailNames);
  const email = attribute ?? (format === unspecifiedFormat ? name : undefined);
  if (!isEmail(email)) throw new SamlRefusal('email');
  return email;
};

const longestName = 64;
const displayNameOf = (assertion: XmlElement): string | undefined => {
  const parts = [attributeValueOf(assertion, givenNames), attributeValueOf(assertion, surnames)].filter(
    (part) => part !== undefined,
  );
  const name = attributeValueOf(assertion, displayNames) ?? parts.join(' ');
  const clean = [...name.replaceAll(/[\p{C}\s]+/gu, ' ').trim()].slice(0, longestName).join('').trim();
  return clean === '' ? undefined : clean;
};

const checkConditions = (assertion: XmlElement, { audience, now }: Expected): void => {
  const conditions = only(assertion, ns.assertion, 'Conditions');
  if (conditions === undefined) throw new SamlRefusal('structure');
  const notBefore = attributeOf(conditions, 'NotBefore');
  demand(notBefore === undefined || timeOf(notBefore) - skewMs <= now.getTime(), 'time');
  demand(now.getTime() < timeOf(attributeOf(conditions, 'NotOnOrAfter')) + skewMs, 'time');
  const restrictions = named(conditions, ns.assertion, 'AudienceRestriction');
  const names = (restriction: XmlElement): boolean =>
    named(restriction, ns.assertion, 'Audience').some((element) => textOf(element) === audience);
  demand(restrictions.length > 0 && restrictions.every(names), 'audience');
};

const checkSubject = (subject: XmlElement, { recipient, inResponseTo, now }: Expected): void => {
  const confirmation = only(subject, ns.assertion, 'SubjectConfirmation');
  demand(attributeOf(confirmation, 'Method') === bearer, 'structure');
  const data = only(confirmation, ns.assertion, 'SubjectConfirmationData');
  demand(data !== undefined, 'structure');
  demand(attributeOf(data, 'Recipient') === recipient, 'recipient');
  demand(attributeOf(data, 'InResponseTo') === inResponseTo, 'in-response-to');
  demand(now.getTime() < timeOf(attributeOf(data, 'NotOnOrAfter')) + skewMs, 'time');
  const notBefore = attributeOf(data, 'NotBefore');
  demand(notBefore === undefined || timeOf(notBefore) - skewMs <= now.getTime(), 'time');
};

/**
 * Reads an assertion whose signature was verified, from the verified bytes and nothing else.
 * @throws SamlRefusal unless it is meant for us, for this login, now
 */
export const readAssertion = (verified: string, expected: Expected): Claims => {
  const assertion = parsePlainXml(verified);
  demand(assertion.localName === 'Assertion' && assertion.namespaceURI === ns.assertion, 'structure');
  demand(textOf(only(assertion, ns.assertion, 'Issuer')) === expected.issuer, 'issuer');
  const { now } = expected;
  const issued = timeOf(attributeOf(assertion, 'IssueInstant'));
  demand(issued - skewMs <= now.getTime() && now.getTime() < issued + longestAgeMs + skewMs, 'time');
  const subject = only(assertion, ns.assertion, 'Subject');
  const assertionId = attributeOf(assertion, 'ID');
  if (subject === undefined || assertionId === undefined) throw new SamlRefusal('structure');
  checkConditions(assertion, expected);
  checkSubject(subject, expected);
  const statements = named(assertion, ns.assertion, 'AuthnStatement');
  demand(statements.length > 0, 'authentication');
  for (const statement of statements) {
    const until = attributeOf(statement, 'SessionNotOnOrAfter');
    demand(until === undefined || now.getTime() < timeOf(until) + skewMs, 'time');
  }
  return { assertionId, email: emailOf(assertion, subject), displayName: displayNameOf(assertion) };
};
