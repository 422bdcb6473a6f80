import { createTransport } from 'nodemailer';
import { composed, parseSender } from '../message.ts';
import { type Mailer, MailUnavailable } from '../port.ts';
import { readSmtpUrl } from '../smtp-url.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://` with host, and port and credentials if need be ({@link readSmtpUrl}). */
  readonly url: string;
  /** `Name <address>` or an address. */
  readonly from: string;
  /** Time for one mail, in ms; default 20,000. */
  readonly timeoutMs?: number;
  /** Certificates to trust instead of the public ones, in PEM. */
  readonly ca?: string;
}

/** What the library says of a failure. */
interface SmtpFailure {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
}

/** Steps whose refusal is about the mail; all others are about us or the server. */
const aboutTheMail: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** 530: the server wants us to log in, which says nothing of the mail. */
const wantsLogin = 530;

const isRefusal = (failure: SmtpFailure): boolean => {
  const { command, responseCode } = failure;
  const lasting = typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600;
  return lasting && responseCode !== wantsLogin && aboutTheMail.has(command);
};

/**
 * Mail through a server (RFC 5321), one connection per mail. Credentials are only sent over TLS, unless the server is on
 * this machine.
 * @throws RangeError for an address of a server or a sender that is none
 */
export const createSmtpMailer = ({ url, from, timeoutMs = 20_000, ca }: SmtpOptions): Mailer => {
  const sender = parseSender(from);
  const { host, port, secure, auth, requireTLS } = readSmtpUrl(url);
  const transport = createTransport({
    host,
    port,
    secure,
    requireTLS,
    ...(auth === undefined ? {} : { auth }),
    ...(ca === undefined ? {} : { tls: { ca } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  let closed = false;

  return {
    async send(message, signal) {
      const mail = composed(sender, message);
      if (closed || signal?.aborted) throw new MailUnavailable('given up before it was sent');
      const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
      const given = Promise.withResolvers<never>();
      const giveUp = (): void => given.reject(new MailUnavailable('the mail server did not answer in time'));
      limit.addEventListener('abort', giveUp, { once: true });
      try {
        await Promise.race([transport.sendMail(mail), given.promise]);
        return 'sent';
      } catch (error) {
        if (isRefusal(Object(error))) return 'refused';
        if (error instanceof MailUnavailable) throw error;
        // Only the kind of failure: the library's message repeats what the server says, addresses included.
        const { code, responseCode } = Object(error) as SmtpFailure;
        throw new MailUnavailable(`the mail server did not take a mail (${String(code)}, ${String(responseCode)})`);
      } finally {
        limit.removeEventListener('abort', giveUp);
      }
    },
    async close() {
      closed = true;
      transport.close();
    },
  };
};
