/** One broken rule of an input: which field, and what is asked of it. */
export interface Violation {
  /** Dotted, with indexes, from the part of the request: `body.changes[3].title`, `query.limit`, `params.spaceId`. */
  readonly field: string;
  /** Continues the sentence that the field begins: `must be at most 50 characters long`. */
  readonly rule: string;
}

/** At most this many violations are told at once. */
export const maxViolations = 5;

/** The violations as one line for people. */
export const sentence = (violations: readonly Violation[]): string =>
  violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
