import { contentHashOf } from './canonical.ts';
import { parseBytes } from './parse.ts';
import { referenceErrors } from './references.ts';
import { type ReadBounds, type Reading, Refused } from './types.ts';
import { validate } from './validate.ts';

/** Twice the largest document that is taken in: aliases may expand. */
export const defaultBounds: ReadBounds = { maxCharacters: 16 * 1024 * 1024, maxDepth: 200, maxErrors: 20 };

/**
 * Reads a Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2 document, JSON or YAML, and checks it. Takes time and memory in
 * proportion to the document, and more for hostile ones: for those of strangers use `createSpecificationReader`.
 */
export const readSpecification = (bytes: Uint8Array, bounds: ReadBounds = defaultBounds): Reading => {
  try {
    const { format, value, json } = parseBytes(bytes, bounds);
    const specVersion = validate(value, bounds.maxErrors);
    const errors = referenceErrors(value, bounds.maxErrors);
    if (errors.length > 0) return { ok: false, errors };
    return { ok: true, format, specVersion, json, contentHash: contentHashOf(value) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, errors: error.errors };
    throw error;
  }
};
