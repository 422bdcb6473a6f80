/** Sealed fields of a person; `shared/personal-data.ts` seals and opens them. */
export interface Sealed {
  readonly sealed: string;
  /** Keyed marks of the values, by field: equal for equal values, and nothing can be read from them. */
  readonly marks: Readonly<Record<string, string>>;
}

/**
 * An email belongs to a user from now on. The event carries all that the user's registration needs, so that whoever
 * finds a reservation without its user (the process died in between) completes it instead of guessing when to give up.
 */
export interface EmailReserved {
  readonly type: 'EmailReserved';
  readonly data: {
    /** Keyed hash of the normalized email, also the id of the stream: no address in a stream name (PITFALLS 39). */
    readonly emailDigest: string;
    readonly userId: string;
    readonly personal: Sealed;
    readonly reservedAt: string;
  };
}

/** An email is free again: who had it was erased. */
export interface EmailReleased {
  readonly type: 'EmailReleased';
  readonly data: { readonly emailDigest: string; readonly userId: string; readonly releasedAt: string };
}

export type EmailEvent = EmailReserved | EmailReleased;
