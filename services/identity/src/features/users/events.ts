/** Sealed fields of a person; `shared/personal-data.ts` seals and opens them. */
export interface Sealed {
  readonly sealed: string;
  /** Keyed marks of the values, by field: equal for equal values, and nothing can be read from them. */
  readonly marks: Readonly<Record<string, string>>;
}

/** What happened to a user. Personal data is sealed: who lacks the user's key reads nothing (DESIGN section 4). */
export type UserEvent =
  | {
      readonly type: 'UserRegistered';
      readonly data: {
        readonly userId: string;
        /** Keyed hash of the normalized email; the reservation in `identity.email-<digest>`. */
        readonly emailDigest: string;
        readonly personal: Sealed;
        readonly registeredAt: string;
      };
    }
  | {
      readonly type: 'UserProfileChanged';
      readonly data: {
        readonly userId: string;
        /** The fields that were given; the others stay. */
        readonly personal: Sealed;
        readonly changedAt: string;
      };
    }
  /** The person is gone: its key is destroyed, so that nothing can be read of what was sealed under it. */
  | { readonly type: 'UserErased'; readonly data: { readonly userId: string; readonly erasedAt: string } };
