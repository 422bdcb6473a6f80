import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { rawPrefix, rawRoutes } from '@bindery/contracts';

/** Where uploads go, below the public address of the instance. */
export const uploadsPrefix = rawPrefix(rawRoutes.uploadFile);

/** Makes and reads addresses of uploads. */
export interface UploadLinks {
  address(baseUrl: string, key: string): string;
  /** The key in a request target, when its signature is good. */
  read(target: string): string | undefined;
}

const maxTarget = 512;
const target = new RegExp(`^${uploadsPrefix}/([A-Za-z0-9_-]{1,64})\\?token=([A-Za-z0-9_-]{22})$`);

/** The key in an address of this instance, whoever made it: what is used by it is asked of the caller, not of the address. */
export const keyInAddress = (baseUrl: string, address: string): string | undefined =>
  address.startsWith(`${baseUrl}${uploadsPrefix}/`) && address.length - baseUrl.length <= maxTarget
    ? target.exec(address.slice(baseUrl.length))?.[1]
    : undefined;

/** @param secret at least 16 bytes; another one ends all addresses */
export const createUploadLinks = (secret: string): UploadLinks => {
  if (Buffer.byteLength(secret) < 16) throw new Error('upload links: the secret has less than 16 bytes');
  const hmacKey = Buffer.from(hkdfSync('sha256', secret, 'bindery', 'storage-uploads', 32));
  const sign = (key: string): Buffer => createHmac('sha256', hmacKey).update(key).digest().subarray(0, 16);
  return {
    address: (baseUrl, key) => `${baseUrl}${uploadsPrefix}/${key}?token=${sign(key).toString('base64url')}`,
    read(text) {
      const [, key, token] = text.length > maxTarget ? [] : (target.exec(text) ?? []);
      if (key === undefined || token === undefined) return undefined;
      const given = Buffer.from(token, 'base64url');
      const right = sign(key);
      return given.length === right.length && timingSafeEqual(given, right) ? key : undefined;
    },
  };
};
