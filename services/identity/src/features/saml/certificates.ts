import { X509Certificate } from 'node:crypto';
import { invalid, type Problem } from '@bindery/service-kit';

/** The present certificate and the next. */
const mostCertificates = 2;
const leastRsaBits = 2048;
/** Longer than any certificate that a provider signs with. */
const mostBase64 = 9000;

const refused = (why: string): Problem => invalid('saml_provider.certificate', `body.certificate: ${why}`);

const pemBlock = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

/** The base64 parts of what was given: PEM blocks, or bare base64 with a blank line between two. */
const bodiesOf = (text: string): readonly string[] => {
  if (!text.includes('-----')) return text.trim().split(/\n\s*\n/);
  const rest = text.replaceAll(pemBlock, '').trim();
  if (rest !== '') throw refused('must hold certificates as PEM, and nothing else');
  return [...text.matchAll(pemBlock)].map(([, body = '']) => body);
};

const read = (body: string, now: Date): X509Certificate => {
  const base64 = body.replaceAll(/\s/g, '');
  if (base64.length === 0 || base64.length > mostBase64 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw refused('must be an X.509 certificate as PEM or base64');
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    throw refused('must be an X.509 certificate as PEM or base64');
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  if (asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < leastRsaBits)
    throw refused(`must have an RSA key of at least ${leastRsaBits} bits`);
  if (certificate.validToDate.getTime() <= now.getTime()) throw refused('has expired');
  return certificate;
};

/**
 * Reads what an identity provider signs with.
 * @returns one or two certificates as PEM, each once
 * @throws Problem 400 that says what is wrong
 */
export const readCertificates = (text: string, now: Date): readonly string[] => {
  const bodies = bodiesOf(text);
  if (bodies.length === 0) throw refused('must be an X.509 certificate as PEM or base64');
  if (bodies.length > mostCertificates) throw refused(`must hold at most ${mostCertificates} certificates`);
  return [...new Set(bodies.map((body) => read(body, now).toString()))];
};
