/** Where a mail server is and how to talk to it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  /** Without TLS no mail is sent. */
  readonly requireTLS: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/**
 * Reads `smtp://user:password@host:port` (port 587) or `smtps://…` (port 465, TLS from the first byte). With credentials
 * and a server elsewhere, TLS is required.
 * @throws RangeError when it is neither; the message does not repeat the text
 */
export const readSmtpUrl = (text: string): SmtpServer => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const secure = url?.protocol === 'smtps:';
  if (url === undefined || (!secure && url.protocol !== 'smtp:') || url.hostname === '')
    throw new RangeError('the mail server must be smtp://host:port or smtps://host:port');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const auth = url.username === '' ? {} : { auth: { user: decoded(url.username), pass: decoded(url.password) } };
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && url.username !== '' && !loopback.test(host),
    ...auth,
  };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError('user and password of the mail server must be percent-encoded');
  }
};
