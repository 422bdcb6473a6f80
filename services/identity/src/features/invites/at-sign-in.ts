import type { Logger } from '@bindery/telemetry';
import { ownMetadata, type Sessions } from '../sessions/index.ts';
import type { AcceptPending } from './accept.ts';

/**
 * Sessions that accept what waits for somebody's address before they begin, so that the first page it sees has the
 * organizations that invited it. Not those that the provider of one organization vouched for: it speaks for no other.
 * Invitations that cannot be accepted keep nobody out; the next sign-in tries again.
 */
export const acceptingSessions = (
  sessions: Sessions,
  deps: {
    readonly acceptPending: AcceptPending;
    readonly emailOf: (userId: string) => Promise<string | undefined>;
    readonly logger: Logger;
  },
): Sessions => ({
  ...sessions,
  async begin(userId, how, context) {
    if (how.method !== 'saml') {
      try {
        const email = await deps.emailOf(userId);
        if (email !== undefined) await deps.acceptPending({ userId, email }, ownMetadata(userId, context));
      } catch (error) {
        deps.logger.warn('invitations were not accepted at sign-in', { userId, error });
      }
    }
    return sessions.begin(userId, how, context);
  },
});
