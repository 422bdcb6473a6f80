import { hash } from 'node:crypto';
import { invalid, isProblem, preconditionFailed } from '@bindery/service-kit';

/**
 * An entity tag of an answer: the version of the resource, then what the bytes hash to. The version is what `If-Match`
 * compares; the hash makes the tag strong, since the same version reads differently for different callers and when an
 * embedded resource changes.
 */
export const entityTag = (version: string, body: string): string =>
  `"${version}.${hash('sha1', body, 'base64url').slice(0, 10)}"`;

/** One element of a list of tags and the comma or end after it; elements may be empty (RFC 9110, 5.6.1). */
const element = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e]*)")?[ \t]*(?:,|$)/y;
/** Versions that one request may name (own limit): each may be tried. */
const maxVersions = 10;

/**
 * The versions that `If-Match` names, without quotes and hashes, each once; `*` alone stands for any. Weak tags are left
 * out, since they never match (RFC 9110, 13.1.1).
 * @throws Problem 412 when all tags are weak; 400 for anything but `*` or a list of tags
 */
export function ifMatchOf(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return ['*'];
  const versions = new Set<string>();
  let tags = 0;
  for (let at = 0; at < header.length; at = element.lastIndex) {
    element.lastIndex = at;
    const found = element.exec(header);
    if (found === null)
      throw invalid('if_match.malformed', 'If-Match: must be entity tags in double quotes, separated by commas, or *');
    const [, weak, value] = found;
    if (value === undefined) continue;
    tags += 1;
    const dot = value.lastIndexOf('.');
    if (weak === undefined) versions.add(dot < 0 ? value : value.slice(0, dot));
  }
  if (tags === 0) throw invalid('if_match.malformed', 'If-Match: names no entity tag');
  if (versions.size === 0) throw preconditionFailed('If-Match: a weak entity tag never matches.');
  if (versions.size > maxVersions)
    throw invalid('if_match.too_many', `If-Match: names more than ${maxVersions} versions`);
  return [...versions];
}

/**
 * Does something under a condition that any of some versions meets: whoever decides compares with one, so each is tried
 * until one is not refused for it. What is refused has changed nothing.
 * @throws Problem 412 when none matches
 */
export async function underAnyOf<T>(
  versions: readonly string[] | undefined,
  work: (ifMatch: string | undefined) => Promise<T>,
): Promise<T> {
  if (versions === undefined) return work(undefined);
  const last = versions.length - 1;
  for (const version of versions.slice(0, last)) {
    try {
      return await work(version);
    } catch (error) {
      if (!isProblem(error) || error.kind !== 'precondition') throw error;
    }
  }
  return work(versions[last]);
}

/** Whether `If-None-Match` names this tag. Weak comparison, as reads want it. */
export function noneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag);
}

/** Whether the caller asked for `Prefer: return=minimal`. */
export function prefersMinimal(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const text = Array.isArray(header) ? header.join(',') : header;
  return text.split(/[,;]/).some((part) => /^return\s*=\s*"?minimal"?$/i.test(part.trim()));
}
