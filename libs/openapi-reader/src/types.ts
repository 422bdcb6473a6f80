/** Bounds of what is read; beyond them the document is refused. */
export interface ReadBounds {
  /** Characters of the document as JSON, aliases expanded. */
  readonly maxCharacters: number;
  /** Objects and arrays inside one another. */
  readonly maxDepth: number;
  /** Errors that are told. */
  readonly maxErrors: number;
}

/** Why a document was refused, for machines. */
export type ReadErrorCode =
  | 'encoding'
  | 'syntax'
  | 'too-deep'
  | 'too-large'
  | 'forbidden-key'
  | 'not-openapi'
  | 'schema'
  | 'reference'
  | 'time'
  | 'memory';

/** One thing that is wrong with a document; the message is for its author and may quote it. */
export interface SpecificationError {
  readonly code: ReadErrorCode;
  readonly message: string;
}

/** What came of reading a document. */
export type Reading =
  | {
      readonly ok: true;
      readonly format: 'json' | 'yaml';
      /** As it declares it: `2.0`, `3.0.3`. */
      readonly specVersion: string;
      /** The document as JSON text, in its own order. */
      readonly json: string;
      /** SHA-256 in hex of the content, whatever the notation, the white space and the order of keys. */
      readonly contentHash: string;
    }
  | { readonly ok: false; readonly errors: readonly SpecificationError[] };

/** The document is not what it should be. Only inside this library. */
export class Refused extends Error {
  readonly errors: readonly SpecificationError[];
  constructor(...errors: readonly SpecificationError[]) {
    super(errors[0]?.message ?? 'refused');
    this.errors = errors;
  }
}
