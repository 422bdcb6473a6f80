/** Headers that a dead letter has besides its own: where the message came from and why it is here (PITFALLS 35). */
export const DEAD_LETTER_HEADERS = {
  topic: 'dead-letter-topic',
  partition: 'dead-letter-partition',
  offset: 'dead-letter-offset',
  reason: 'dead-letter-reason',
  /** How often a handler had it; 0 for one that only waits behind an earlier message of its key. */
  attempts: 'dead-letter-attempts',
} as const;

/** What is kept of a reason, in UTF-16 units. */
const REASON_LENGTH = 2000;

/** A reason as it is kept. */
export const shortened = (reason: string): string => reason.slice(0, REASON_LENGTH);
