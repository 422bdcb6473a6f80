import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { rawPrefix, rawRoutes } from '@bindery/contracts';

/** Where documents are served as they came, below the public address of the instance. */
export const openapiPrefix = rawPrefix(rawRoutes.downloadOpenAPISpec);

/** Addresses of documents. They carry no time: a version has one address, in every replica and after every rebuild. */
export interface SpecLinks {
  /** Signed: whoever has it may read this version, until the specification is deleted. */
  version(baseUrl: string, specId: string, versionId: string, name: string): string;
  /** For public specifications: always the latest version. */
  latest(baseUrl: string, specId: string, name: string): string;
  isSigned(specId: string, versionId: string, token: string): boolean;
}

/** @param secret at least 16 bytes; another one ends all signed addresses */
export const createSpecLinks = (secret: string): SpecLinks => {
  if (Buffer.byteLength(secret) < 16) throw new Error('specification links: the secret has less than 16 bytes');
  const key = Buffer.from(hkdfSync('sha256', secret, 'bindery', 'openapi-links', 32));
  const sign = (specId: string, versionId: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([specId, versionId]))
      .digest()
      .subarray(0, 16);
  return {
    version: (baseUrl, specId, versionId, name) =>
      `${baseUrl}${openapiPrefix}/${specId}/${versionId}/${name}?token=${sign(specId, versionId).toString('base64url')}`,
    latest: (baseUrl, specId, name) => `${baseUrl}${openapiPrefix}/${specId}/latest/${name}`,
    isSigned(specId, versionId, token) {
      const given = Buffer.from(token, 'base64url');
      const right = sign(specId, versionId);
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
};
