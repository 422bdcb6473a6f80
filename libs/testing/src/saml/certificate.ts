import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A key with the certificate that an identity provider would publish for it. */
export interface SigningIdentity {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** X.509, PEM. */
  readonly certificate: string;
}

const tlv = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
};
const sequence = (...contents: readonly Uint8Array[]): Buffer => tlv(0x30, ...contents);
const time = (date: Date): Buffer =>
  tlv(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
const sha256WithRsa = sequence(tlv(0x06, Buffer.from('2a864886f70d01010b', 'hex')), tlv(0x05));
const nameOf = (commonName: string): Buffer =>
  sequence(tlv(0x31, sequence(tlv(0x06, Buffer.from('550403', 'hex')), tlv(0x0c, Buffer.from(commonName)))));

/**
 * A new RSA key with a self-signed certificate, so that no private key lies about in the repository.
 * @param options.bits default 2048
 * @param options.validUntil default: a year from now
 */
export const newSigningIdentity = (
  commonName: string,
  { bits = 2048, validUntil = new Date(Date.now() + 365 * 86_400_000) }: { bits?: number; validUntil?: Date } = {},
): SigningIdentity => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const name = nameOf(commonName);
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(12)])),
    sha256WithRsa,
    name,
    sequence(time(new Date('2020-01-01T00:00:00Z')), time(validUntil)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const der = sequence(toBeSigned, sha256WithRsa, tlv(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
};
