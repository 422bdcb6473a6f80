import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { digestOf } from './digests.ts';
import { sessionSecret } from './session.ts';

/** Credentials that are remembered; the oldest go. */
const maxRemembered = 10_000;

/** Groups of an IPv6 address, written out; those that `::` leaves out are zeros. */
const groupsOf = (address: string): readonly string[] => {
  const [head = '', tail = ''] = address.split('::');
  const parts = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [before, behind] = [parts(head), parts(tail)];
  const left = address.includes('::') ? Math.max(0, 8 - before.length - behind.length) : 0;
  return [...before, ...Array.from({ length: left }, () => '0'), ...behind];
};

/** An address as one caller: of IPv6 the /64, which is what a single customer has at least. */
export const callerNetwork = (address: string): string => {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (isIPv4(plain) || !isIPv6(plain)) return plain;
  return `${groupsOf(plain)
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
};

/** In whose share a request counts: a user's once its credentials have worked here, that of its address until then. */
export interface Callers {
  /** @param address of the caller */
  of(request: IncomingMessage, address: string): string;
  /** The credentials of a request work. @returns in whose share it counts from now on */
  known(request: IncomingMessage, userId: string): string;
  /** They do not (any more). */
  unknown(request: IncomingMessage): void;
}

/**
 * Remembers whose the credentials are that worked lately. That gives nobody any right: it says only whom a request counts
 * for before it is looked at. All tokens and sessions of a user count together, since anybody can make many.
 * @param baseUrl by which the name of the session cookie is known
 */
export const createCallers = (baseUrl: () => string): Callers => {
  const users = new Map<string, string>();
  const digestIn = (request: IncomingMessage): string | undefined => {
    const credentials = request.headers.authorization ?? sessionSecret(request, baseUrl());
    return credentials === undefined ? undefined : digestOf(credentials);
  };
  return {
    of(request, address) {
      const digest = digestIn(request);
      const user = digest === undefined ? undefined : users.get(digest);
      return user === undefined ? `address ${callerNetwork(address)}` : `user ${user}`;
    },
    known(request, userId) {
      const digest = digestIn(request);
      if (digest !== undefined) {
        // What was used last is forgotten last.
        users.delete(digest);
        users.set(digest, userId);
        const [oldest] = users.keys();
        if (users.size > maxRemembered && oldest !== undefined) users.delete(oldest);
      }
      return `user ${userId}`;
    },
    unknown(request) {
      const digest = digestIn(request);
      if (digest !== undefined) users.delete(digest);
    },
  };
};
