import { readConfig } from '@bindery/service-kit';
import { expect, test } from '@jest/globals';
import { mailSettings } from './mail-settings.ts';

test('settings that no mail could be sent with end the start, without showing the password', () => {
  expect(readConfig(mailSettings, { SMTP_URL: 'smtps://me:s3cret@mail.example.org' }).SMTP_URL).toContain('s3cret');
  for (const wrong of [
    { SMTP_URL: 'http://me:s3cret@mail.example.org' },
    { SMTP_URL: 'smtp://me:s3cret%zz@mail.example.org' },
    { SMTP_URL: 'me:s3cret' },
    { MAIL_FROM: 'nobody s3cret' },
  ]) {
    let message = '';
    try {
      readConfig(mailSettings, wrong);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/(SMTP_URL|MAIL_FROM): must be/);
    expect(message).not.toContain('s3cret');
  }
});
