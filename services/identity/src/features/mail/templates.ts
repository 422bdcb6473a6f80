/** Subject and text of a mail. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** What people write goes into one line, and not too much of it: a mail of ours says what we mean it to say. */
const line = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 100);

const letter = (...paragraphs: readonly string[]): string => `${paragraphs.join('\n\n')}\n`;

/**
 * To somebody who was invited to an organization and has no account.
 * @param about `url`: where to sign in
 */
export const invitationMail = (about: {
  readonly organization: string;
  readonly inviter: string;
  readonly url: string;
}): MailText => {
  const organization = line(about.organization);
  return {
    subject: `Invitation to ${organization}`,
    text: letter(
      `${line(about.inviter)} invites you to work on the documentation of ${organization}.`,
      `Sign in with the address that this mail was sent to, and you are a member:\n${about.url}`,
      'If you do not know what this is about, nothing happens when you ignore it.',
    ),
  };
};

/**
 * To somebody who gave an address as its own.
 * @param about `url`: what confirms it, once; `hours`: how long that works
 */
export const verificationMail = (about: { readonly url: string; readonly hours: number }): MailText => ({
  subject: 'Confirm your address',
  text: letter(
    'Somebody, probably you, gave this address as its own. To confirm that, open:',
    about.url,
    `This works once, for ${about.hours} hours. If it was not you, ignore this mail: nothing happens.`,
  ),
});

/**
 * To somebody who forgot the password.
 * @param about `url`: what sets a new one, once; `minutes`: how long that works
 */
export const passwordResetMail = (about: { readonly url: string; readonly minutes: number }): MailText => ({
  subject: 'Set a new password',
  text: letter(
    'Somebody, probably you, asked to set a new password for the account with this address. To do that, open:',
    about.url,
    `This works once, for ${about.minutes} minutes. If it was not you, ignore this mail: the password stays as it is.`,
  ),
});
