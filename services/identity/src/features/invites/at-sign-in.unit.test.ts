import { noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import type { Sessions } from '../sessions/index.ts';
import { acceptingSessions } from './at-sign-in.ts';

const context = { requestId: 'r', now: new Date(0), baseUrl: 'https://docs.example.org' };
const begun = { sessionId: 's', cookie: 'c', expiresAt: 'e' };

const signingIn = (email: string | undefined, fails = false) => {
  const done: string[] = [];
  const inner: Sessions = {
    async begin(userId) {
      done.push(`session of ${userId}`);
      return begun;
    },
    end: async () => 0,
  };
  const sessions = acceptingSessions(inner, {
    async acceptPending(user) {
      if (fails) throw new Error('the store is away');
      done.push(`invitations of ${user.email}`);
    },
    emailOf: async () => email,
    logger: noopTelemetry().logger,
  });
  return { sessions, done };
};

test.each(['password', 'link', 'oidc'] as const)(
  '%s: what waits is accepted before the session begins',
  async (method) => {
    const { sessions, done } = signingIn('ann@example.org');
    expect(await sessions.begin('u', { method }, context)).toBe(begun);
    expect(done).toEqual(['invitations of ann@example.org', 'session of u']);
  },
);

test('what the provider of one organization says accepts nothing', async () => {
  const { sessions, done } = signingIn('ann@example.org');
  await sessions.begin('u', { method: 'saml', organizationId: 'o' }, context);
  expect(done).toEqual(['session of u']);
});

test('nobody is kept out, without an address or when accepting fails', async () => {
  for (const { sessions, done } of [signingIn(undefined), signingIn('ann@example.org', true)]) {
    await sessions.begin('u', { method: 'password' }, context);
    expect(done).toEqual(['session of u']);
  }
});
