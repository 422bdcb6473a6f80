import type { MailMessage } from '@bindery/mail';
import { expect, test } from '@jest/globals';
import { createLinkSecrets } from './links.ts';
import { mailLinkReactor } from './mail-link.ts';

const issued = {
  id: 'event-1',
  type: 'SignInLinkIssued',
  data: {
    ...{ userId: 'u1', linkId: 'l1', purpose: 'reset', mail: true, baseUrl: 'https://docs.example.org' },
    ...{ issuedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-01T01:00:00.000Z' },
  },
} as unknown as Parameters<ReturnType<typeof mailLinkReactor>['react']>[0];

const mailed = async (email: string | undefined): Promise<readonly string[]> => {
  const sent: MailMessage[] = [];
  const mailer = {
    async send(message: MailMessage) {
      sent.push(message);
      return 'sent' as const;
    },
    close: async () => undefined,
  };
  const clock = { now: () => new Date('2026-01-01T00:00:01.000Z') };
  const deps = { mailer, secrets: createLinkSecrets('secret'), emailOf: async () => email, clock };
  await mailLinkReactor(() => deps).react(issued, new AbortController().signal);
  return sent.map(({ to }) => to);
};

test('a link goes to where mail can be sent, and is not tried for ever elsewhere', async () => {
  expect(await mailed('ann@example.org')).toEqual(['ann@example.org']);
  expect(await mailed(`${'a'.repeat(65)}@example.org`)).toEqual([]);
  expect(await mailed(undefined)).toEqual([]);
});
