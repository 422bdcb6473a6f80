import { hash } from 'node:crypto';
import { invalid, preconditionFailed } from '@bindery/service-kit';

/**
 * An entity tag of an answer: the version of the resource, then what the bytes hash to. The version is what `If-Match`
 * compares; the hash makes the tag strong, since the same version reads differently for different callers and when an
 * embedded resource changes.
 */
export const entityTag = (version: string, body: string): string =>
  `"${version}.${hash('sha1', body, 'base64url').slice(0, 10)}"`;

const tag = /^"([\x21\x23-\x7e]*)"$/;

/**
 * The version in `If-Match`, without quotes and hash; `*` stands for any.
 * @throws Problem 412 for a weak tag, which never matches; 400 for anything but one tag
 */
export function ifMatchOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (value === '*') return '*';
  if (value.startsWith('W/')) throw preconditionFailed('If-Match: a weak entity tag never matches.');
  const found = tag.exec(value)?.[1];
  if (found === undefined)
    throw invalid('if_match.malformed', 'If-Match: must be one entity tag in double quotes, or *');
  const dot = found.lastIndexOf('.');
  return dot < 0 ? found : found.slice(0, dot);
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
