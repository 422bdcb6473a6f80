import type { IncomingMessage, ServerResponse } from 'node:http';
import { deadlineExceeded, invalid, Problem } from '@bindery/service-kit';
import { readBody } from '../../http/body.ts';

/** A form of these pages in bytes; the longest field is a password of 1024 characters. */
const maxBytes = 16 * 1024;
/** How long one may take to come, in ms: whoever sends it may be anybody, and has one of the places meanwhile. */
const maxMs = 10_000;

/** The fields of a form. */
export interface Form {
  /** The first field of this name, '' when there is none. @throws Problem 400 when it is too long or has control characters */
  field(name: string, maxLength: number): string;
  /** All fields of this name, at most 100. */
  all(name: string): readonly string[];
}

/**
 * Reads a form as browsers send it.
 * @param withinMs longest that it may take to come
 * @throws Problem 400, 413, 415, 503
 */
export const readForm = async (request: IncomingMessage, response: ServerResponse, withinMs = maxMs): Promise<Form> => {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new Problem('unsupported-media-type', 'form.type', 'The form must be application/x-www-form-urlencoded.');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(deadlineExceeded.problem()), withinMs);
  const body = await readBody(request, response, maxBytes, late.signal).finally(() => clearTimeout(timer));
  const fields = new URLSearchParams(body.toString('utf8'));
  return {
    field(name, maxLength) {
      const value = fields.get(name) ?? '';
      if (value.length > maxLength) throw invalid('form.length', `${name}: must have at most ${maxLength} characters`);
      if (/\p{Cc}/u.test(value)) throw invalid('form.control', `${name}: has control characters`);
      return value;
    },
    all: (name) => fields.getAll(name).slice(0, 100),
  };
};
