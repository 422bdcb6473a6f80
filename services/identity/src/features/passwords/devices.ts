import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setCookie } from '@bindery/service-kit';

/** Name of the cookie that tells a browser in which an account was signed in to before. */
export const deviceCookie = 'device';

const lifetimeDays = 365;
const dayMs = 86_400_000;

/**
 * Marks browsers in which somebody has signed in. Such a browser is not held up by what others do to the account: whoever
 * guesses at a password from elsewhere does not lock its owner out (OWASP: device cookies). It opens nothing by itself.
 */
export interface Devices {
  /** A `Set-Cookie` header value. */
  mark(userId: string, now: Date, baseUrl: string): string;
  /** What to count the attempts of this browser under; undefined when the account was never signed in to from it. */
  known(value: string | undefined, userId: string, now: Date): string | undefined;
}

/** @param secret for this purpose alone */
export const createDevices = (secret: string): Devices => {
  const sign = (userId: string, nonce: string, until: string): Buffer =>
    createHmac('sha256', secret).update(`${userId}.${nonce}.${until}`).digest();
  return {
    mark(userId, now, baseUrl) {
      const nonce = randomBytes(12).toString('base64url');
      const until = String(Math.floor(now.getTime() / dayMs) + lifetimeDays);
      const value = `${nonce}.${until}.${sign(userId, nonce, until).toString('base64url')}`;
      return setCookie(deviceCookie, value, baseUrl, lifetimeDays * 86_400);
    },
    known(value, userId, now) {
      const [nonce = '', until = '', mac = '', more] = (value ?? '').split('.');
      if (more !== undefined || !/^\d{1,6}$/.test(until) || Number(until) * dayMs < now.getTime()) return undefined;
      const given = Buffer.from(mac, 'base64url');
      const expected = sign(userId, nonce, until);
      return given.length === expected.length && timingSafeEqual(given, expected) ? nonce : undefined;
    },
  };
};
