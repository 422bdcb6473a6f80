import { operations } from '@bindery/contracts';
import type { MailMessage } from '@bindery/mail';
import { servicePrincipal } from '@bindery/service-kit';
import { expect, test } from '@jest/globals';
import { startIdentity } from '../../api/testing.ts';

test('a link that was asked for right before the end is sent, after the next start at the latest', async () => {
  const mails: MailMessage[] = [];
  const mailer = {
    send: async (message: MailMessage) => {
      mails.push(message);
      return 'sent' as const;
    },
    close: async () => undefined,
  };
  const before = await startIdentity({ options: { mailer } });
  const body = { email: 'admin@localhost', address: '10.0.0.1' };
  await before.call(operations.requestSignInLink, servicePrincipal('gateway'), { body });
  await before.stop();
  const after = await startIdentity({ folder: before.folder, options: { mailer } });
  try {
    const until = performance.now() + 3000;
    while (mails.length === 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(mails[0]?.to).toBe('admin@localhost');
  } finally {
    await after.dispose();
  }
});
