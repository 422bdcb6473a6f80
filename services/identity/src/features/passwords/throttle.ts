import { isIPv6 } from 'node:net';
import { Problem } from '@bindery/service-kit';
import type { LimitStore } from '../../shared/local-limits.ts';

/** Who tries what. */
export interface Attempt {
  readonly address: string;
  /** Keyed digest of the email, whether anybody has it or not. */
  readonly account: string;
  /** Of a browser in which the account was signed in to before. */
  readonly device?: string | undefined;
}

/** Limits guessing per address and per account. */
export interface SignInThrottle {
  /**
   * Counts an attempt before any work is done for it, so that attempts at the same time are all counted.
   * @throws Problem 429
   */
  admit(attempt: Attempt): Promise<void>;
  /** The attempt was good: the account's count starts anew. */
  succeeded(attempt: Attempt): Promise<void>;
  /** Counts a request for a link by mail, by where it comes from; false when there were too many. */
  admitMailFrom(address: string): Promise<boolean>;
  /** The same, by whom the mail would go to. */
  admitMailTo(account: string): Promise<boolean>;
}

const minute = 60_000;
const hour = 60 * minute;

/** Attempts of one address, good ones included: 30 at once, then one every five seconds. */
const perAddress = { capacity: 30, refillPerSecond: 0.2 };
/** Attempts of a known browser on its account: 15 at once, then one a minute. */
const perDevice = { capacity: 15, refillPerSecond: 1 / 60 };
/** Links by mail: of one account three at once, then one every twenty minutes; of one address ten and one every five. */
const mailsPerAccount = { capacity: 3, refillPerSecond: 1 / 1200 };
const mailsPerAddress = { capacity: 10, refillPerSecond: 1 / 300 };
/** Attempts on an account in an hour before it is held up. */
const freePerAccount = 5;
/** After each attempt beyond those the account is held up for 2 s, 4 s, 8 s ... and never longer than this. */
const longestWaitMs = 15 * minute;
/** How long it is remembered how often an account was held up. */
const levelTtlMs = 12 * hour;

/** Addresses that one caller has by the billion are one: an IPv6 network of 64 bits. */
export const networkKey = (address: string): string => {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain.slice(0, 64);
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const all = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
};

const tooMany = (code: string, waitMs: number): Problem =>
  new Problem('rate-limited', code, 'Too many attempts to sign in. Retry-After says when to go on.', {
    retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
  });

export const createSignInThrottle = (store: LimitStore): SignInThrottle => {
  const keys = (account: string) => ({
    count: `sign-in:count:${account}`,
    level: `sign-in:level:${account}`,
    wait: `sign-in:wait:${account}`,
  });

  return {
    async admit({ address, account, device }) {
      if (device !== undefined) {
        const taken = await store.take(`sign-in:device:${device}`, perDevice);
        if (taken.allowed) return;
        // Used up, be it by its owner or by a thief of the cookie: it counts like any other browser from here on.
      }
      const taken = await store.take(`sign-in:address:${networkKey(address)}`, perAddress);
      if (!taken.allowed) throw tooMany('sign_in.address', taken.retryAfterMs);
      const key = keys(account);
      if ((await store.increment(key.count, { ttlMs: hour })) <= freePerAccount) return;
      const level = await store.increment(key.level, { by: 0, ttlMs: levelTtlMs });
      const waitMs = Math.min(longestWaitMs, 2000 * 2 ** Math.min(level, 20));
      // Only who gets the lock is heard, and holds the account up for the others; refused ones do not prolong it.
      if ((await store.acquire(key.wait, crypto.randomUUID(), waitMs)) === undefined)
        throw tooMany('sign_in.account', waitMs);
      await store.increment(key.level, { ttlMs: levelTtlMs });
    },
    async succeeded({ account, device }) {
      // A known browser was not held up, so there is nothing to take back; what others tried still counts.
      if (device !== undefined) return;
      const key = keys(account);
      await store.delete(key.count);
      await store.delete(key.level);
    },
    async admitMailFrom(address) {
      return (await store.take(`sign-in:mail-from:${networkKey(address)}`, mailsPerAddress)).allowed;
    },
    async admitMailTo(account) {
      return (await store.take(`sign-in:mail-to:${account}`, mailsPerAccount)).allowed;
    },
  };
};
