import type { IncomingMessage } from 'node:http';
import { deadlineExceeded } from '@bindery/service-kit';
import { demand, SamlRefusal } from './refusal.ts';
import { mostResponseBytes } from './verify.ts';

/** The answer in base64 with every character percent-encoded at worst, and the rest of the form. */
const mostFormBytes = mostResponseBytes * 2;
/** How long it may take to come, in ms: whoever sends it may be anybody, and holds a place meanwhile. */
const formWithinMs = 10_000;

/**
 * Reads the form that an identity provider lets the browser send. Bodies that say they are too long are not read, others
 * not further than that; compressed ones are not opened at all.
 * @param withinMs longest that it may take to come
 * @throws SamlRefusal; Problem 503 when it does not come in time
 */
export const readForm = async (
  request: IncomingMessage,
  withinMs = formWithinMs,
): Promise<{ readonly samlResponse: string; readonly relayState: string | undefined }> => {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  demand(type.trim().toLowerCase() === 'application/x-www-form-urlencoded', 'form');
  demand((request.headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity', 'form');
  demand(!(Number(request.headers['content-length']) > mostFormBytes), 'too-large');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), withinMs);
  const text = await deadlineExceeded.race(late.signal, () => collect(request)).finally(() => clearTimeout(timer));
  const fields = new URLSearchParams(text);
  const [samlResponse, ...others] = fields.getAll('SAMLResponse');
  const [relayState, ...otherStates] = fields.getAll('RelayState');
  demand(others.length === 0 && otherStates.length === 0, 'form');
  if (samlResponse === undefined || samlResponse === '') throw new SamlRefusal('form');
  return { samlResponse, relayState };
};

const collect = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    demand(size <= mostFormBytes, 'too-large');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('latin1');
};
