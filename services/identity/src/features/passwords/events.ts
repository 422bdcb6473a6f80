/** Why a one-time link was made. */
export type LinkPurpose = 'first-start' | 'administrator' | 'invitation' | 'reset';

/** What happened to the ways in that a user has without help of others: the password, and one-time links. */
export type PasswordEvent =
  | {
      readonly type: 'PasswordSet';
      readonly data: {
        readonly userId: string;
        /** The seal is bound to it. */
        readonly passwordId: string;
        /** Hash of the password, sealed with the user's key: who erases the user erases it too. */
        readonly sealed: string;
        readonly setAt: string;
      };
    }
  | {
      /** The secret in the link is not stored anywhere: it is made from the id, with a key from the instance key. */
      readonly type: 'SignInLinkIssued';
      readonly data: {
        readonly userId: string;
        readonly linkId: string;
        readonly purpose: LinkPurpose;
        /** Whether it is sent to the user by mail. */
        readonly mail: boolean;
        /** Public address of the instance, for the mail. */
        readonly baseUrl: string;
        readonly issuedAt: string;
        readonly expiresAt: string;
      };
    }
  | {
      readonly type: 'SignInLinkUsed';
      readonly data: { readonly userId: string; readonly linkId: string; readonly usedAt: string };
    };
