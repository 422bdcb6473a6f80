import { hash } from 'node:crypto';

/** Credentials whose digests are remembered; beyond that all are forgotten. */
const most = 2_000;
/** Longer ones are none of ours, whatever they are: their digests are not remembered, since anybody may send many. */
const longest = 512;
/** For so long at most, in ms: below the time for which anything else is remembered of credentials. */
const forgetMs = 10_000;

const digests = new Map<string, string>();

const forget = (): void => digests.clear();

/**
 * The SHA-256 of credentials, in lower-case hex. The same ones come many times in a second, and each request needs this several
 * times: it is remembered for a moment, in the memory of this process alone.
 */
export const digestOf = (credentials: string): string => {
  const known = digests.get(credentials);
  if (known !== undefined) return known;
  const digest = hash('sha256', credentials, 'hex');
  if (credentials.length > longest) return digest;
  if (digests.size >= most) forget();
  if (digests.size === 0) setTimeout(forget, forgetMs).unref();
  // A copy: what is cut out of a header holds all of it.
  digests.set(Buffer.from(credentials).toString(), digest);
  return digest;
};
