import { parseDocument } from 'yaml';
import { type ReadBounds, Refused } from './types.ts';

/** Uses of anchors that are resolved; what they expand to is bounded by `measure`. */
const maxAliasCount = 10_000;

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // What a strict decoder says of bytes is that they are wrong, not where.
    throw new Refused({ code: 'encoding', message: 'The document is not UTF-8 text.' });
  }
};

const syntaxError = (error: unknown): Refused => {
  const message = error instanceof Error ? error.message : String(error);
  return new Refused({ code: 'syntax', message: `The document is not well-formed: ${message.split('\n')[0]}` });
};

const fromJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // YAML has braces, too.
    return undefined;
  }
};

const fromYaml = (text: string): unknown => {
  try {
    const document = parseDocument(text, { merge: true, logLevel: 'silent' });
    const [wrong] = document.errors;
    if (wrong !== undefined) throw wrong;
    return document.toJS({ maxAliasCount });
  } catch (error) {
    if (error instanceof RangeError)
      throw new Refused({ code: 'too-deep', message: 'The document is nested too deeply.' });
    throw syntaxError(error);
  }
};

/** Counts what JSON of a value has, shared parts each time, and refuses what is beyond the bounds or goes round in circles. */
const measure = (root: unknown, { maxCharacters, maxDepth }: ReadBounds): void => {
  let size = 0;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') size += value.length + 2;
    else size += 8;
    if (size > maxCharacters)
      throw new Refused({ code: 'too-large', message: `The document has more than ${maxCharacters} characters.` });
    if (typeof value !== 'object' || value === null) return;
    if (depth > maxDepth)
      throw new Refused({ code: 'too-deep', message: `The document is nested more than ${maxDepth} levels deep.` });
    for (const key of Object.keys(value)) {
      if (key === '__proto__')
        throw new Refused({ code: 'forbidden-key', message: 'The document has a key __proto__, which is refused.' });
      if (!Array.isArray(value)) size += key.length + 3;
      visit((value as Readonly<Record<string, unknown>>)[key], depth + 1);
    }
  };
  visit(root, 1);
};

/**
 * Reads JSON or YAML text.
 * @returns a plain tree without shared parts, and its JSON
 * @throws Refused
 */
export const parseBytes = (
  bytes: Uint8Array,
  bounds: ReadBounds,
): { readonly format: 'json' | 'yaml'; readonly value: unknown; readonly json: string } => {
  const text = decode(bytes);
  const parsed = /^\s*[{[]/.test(text) ? fromJson(text) : undefined;
  const value = parsed ?? fromYaml(text);
  measure(value, bounds);
  const json = JSON.stringify(value) ?? 'null';
  return { format: parsed === undefined ? 'yaml' : 'json', value: JSON.parse(json), json };
};
