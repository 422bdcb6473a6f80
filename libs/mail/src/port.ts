/** One mail to one person, plain text. */
export interface MailMessage {
  /**
   * What makes this mail this one: the id of the event that asks for it. It becomes the `Message-ID`, so a mail that is
   * sent twice (after a crash, or an answer that was lost) is recognised as one by whoever receives it.
   * 1 to 200 of the characters A-Z a-z 0-9 . _ -
   */
  readonly id: string;
  /** Address of the receiver, without a name; at most 254 characters. */
  readonly to: string;
  /** One line, at most 200 characters; line breaks and other control characters are taken out. */
  readonly subject: string;
  /** At most 20,000 characters. */
  readonly text: string;
}

/**
 * What became of a mail. `sent`: somebody else is responsible now. `refused`: it will never be taken (no such mailbox,
 * no such address), trying again is useless.
 */
export type MailOutcome = 'sent' | 'refused';

/**
 * Sends mail. It is called from reactors, never while a request waits: sending may take seconds, and is repeated until it
 * succeeds. Neither addresses nor texts are logged by anybody.
 */
export interface Mailer {
  /**
   * Hands a mail over. The same message may be handed over again.
   * @param signal gives up when it aborts
   * @throws MailUnavailable when it could not be handed over now: try again later
   * @throws RangeError for a message that breaks the rules of {@link MailMessage}
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<MailOutcome>;
  /** Ends connections. Idempotent. */
  close(): Promise<void>;
}

/** Mail cannot be handed over at the moment; a retry is useful. Says nothing about the mail. */
export class MailUnavailable extends Error {
  readonly code = 'mail.unavailable';
}
