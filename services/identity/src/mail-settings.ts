import { parseSender, readSmtpUrl } from '@bindery/mail';
import { optional, required, type Setting } from '@bindery/service-kit';

/** Checks at the start what the adapters would only find out at the first mail. */
const checked = <S extends Setting<string>>(setting: S, check: (text: string) => unknown): S => ({
  ...setting,
  read: (text: string) => {
    try {
      check(text);
    } catch {
      throw new Error(`must be ${setting.allowed}`);
    }
    return text;
  },
});

/** Settings of mail. */
export const mailSettings = {
  SMTP_URL: checked(
    optional.text({
      description:
        'Server that mail is sent through; without one every mail becomes a file in `outbox` of the data directory.',
      allowed: 'smtp://user:password@host:587 or smtps://user:password@host:465',
      secret: true,
    }),
    readSmtpUrl,
  ),
  MAIL_FROM: checked(
    required.text({
      description: 'Who mail comes from.',
      fallback: 'Bindery <bindery@localhost>',
      allowed: 'an address, or a name and <address>',
    }),
    parseSender,
  ),
};
