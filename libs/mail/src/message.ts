import type { MailMessage } from './port.ts';

/** Who mail comes from. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

const address = /^[^\s@<>,;:"()\\[\]\p{Cc}]{1,64}@[^\s@<>,;:"()\\[\]\p{Cc}]{1,253}$/u;
const sender = /^(?:(?<name>[^<>"@\p{Cc}]{1,100}?)\s*<(?<inner>[^<>]{3,254})>|(?<bare>[^<>\s]{3,254}))$/u;

/**
 * Reads `Name <address>` or an address alone.
 * @throws RangeError when it is neither
 */
export const parseSender = (text: string): Sender => {
  const { name = '', inner, bare } = sender.exec(text.trim())?.groups ?? {};
  const found = inner ?? bare ?? '';
  if (!address.test(found)) throw new RangeError('the sender of mail must be an address, or a name and <address>');
  return { name: name.trim(), address: found };
};

/** Whether mail can be sent to it at all: one address, nothing that would add a header or a receiver. */
export const isMailAddress = (text: string): boolean => text.length <= longest.address && address.test(text);

const idPattern = /^[A-Za-z0-9._-]{1,200}$/;
const longest = { address: 254, subject: 200, text: 20_000 };

/** A message as adapters hand it to the library that writes it down: headers cannot be smuggled in through any field. */
export const composed = (from: Sender, { id, to, subject, text }: MailMessage) => {
  if (!idPattern.test(id)) throw new RangeError('the id of a mail must have 1 to 200 of A-Z a-z 0-9 . _ -');
  if (!isMailAddress(to)) throw new RangeError('the receiver of a mail must be one address');
  if (text.length > longest.text) throw new RangeError(`a mail has at most ${longest.text} characters`);
  return {
    from: { ...from },
    to: { name: '', address: to },
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    subject: subject
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim()
      .slice(0, longest.subject),
    text,
    // Tells mailboxes not to answer with "I am away" (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};
