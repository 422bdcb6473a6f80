import type { SessionEnding, SessionMethod } from '@bindery/contracts';

/** What happened to the sessions of a user. Of a session only the SHA-256 of its secret is ever stored. */
export type SessionEvent =
  | {
      readonly type: 'SessionStarted';
      readonly data: {
        readonly userId: string;
        readonly sessionId: string;
        /** SHA-256 of the secret, lower-case hex. */
        readonly sessionHash: string;
        readonly method: SessionMethod;
        /** Of sessions that an organization's identity provider vouches for. */
        readonly organizationId?: string;
        /** The identity provider that did; absent in events of releases that did not note it. */
        readonly providerId?: string;
        /** Address and browser, sealed with the user's key. */
        readonly client: string;
        readonly startedAt: string;
        readonly expiresAt: string;
      };
    }
  | {
      readonly type: 'SessionsEnded';
      readonly data: {
        readonly userId: string;
        readonly sessionIds: readonly string[];
        readonly reason: SessionEnding;
        readonly endedAt: string;
      };
    };
