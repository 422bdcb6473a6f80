import type { OAuthScope } from '@bindery/contracts';
import type { SignedInBy } from '@bindery/service-kit';

/** What happened to the personal access tokens of a user. Of a token only its SHA-256 is ever stored. */
export type CredentialsEvent =
  | {
      readonly type: 'TokenIssued';
      readonly data: {
        readonly userId: string;
        readonly tokenId: string;
        /** SHA-256 of the secret, lower-case hex. */
        readonly tokenHash: string;
        readonly name: string;
        readonly issuedAt: string;
        /** Absent: never expires. */
        readonly expiresAt?: string;
        /** Absent: everything that the user may do. */
        readonly scopes?: readonly OAuthScope[];
        /** How the session began in which it was made: the token reaches no further than that. */
        readonly signedInBy?: SignedInBy;
      };
    }
  | {
      readonly type: 'TokenRevoked';
      readonly data: {
        readonly userId: string;
        readonly tokenId: string;
        readonly revokedAt: string;
      };
    };
