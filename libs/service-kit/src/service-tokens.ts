import { timingSafeEqual } from 'node:crypto';
import { commaSeparated, optional, required } from './config.ts';

const minLength = 32;

/** What the processes of an instance know one another by: one token is sent, others may be accepted while it is replaced. */
export const serviceTokenSettings = {
  SERVICE_TOKEN: required.text({
    description: 'What the processes of the instance know one another by: sent to the others, and accepted.',
    minLength,
    secret: true,
  }),
  SERVICE_TOKENS_ACCEPTED: optional.text({
    description: 'Further tokens that are accepted but never sent, while `SERVICE_TOKEN` is replaced.',
    pattern: new RegExp(`^[^\\s,]{${minLength},}( *, *[^\\s,]{${minLength},}){0,3}$`),
    allowed: `up to 4 texts of at least ${minLength} characters, separated by commas`,
    secret: true,
  }),
};

/** Every token that a process with these settings accepts; the first one is the one that it sends. */
export const acceptedTokens = (settings: {
  readonly SERVICE_TOKEN: string;
  readonly SERVICE_TOKENS_ACCEPTED: string | undefined;
}): readonly string[] => [settings.SERVICE_TOKEN, ...commaSeparated(settings.SERVICE_TOKENS_ACCEPTED)];

/** Room for one character more than the longest token has, in bytes: by it what is longer differs. */
const oneMore = 4;

/**
 * Tells whether a text is one of the tokens. It takes as long whichever it is, and when it is none: each is compared whole, in
 * constant time, in rooms of equal length, which costs a tenth of comparing digests.
 * @throws RangeError without any token
 */
export const createTokenCheck = (tokens: readonly string[]): ((given: string) => boolean) => {
  if (tokens.length === 0) throw new RangeError('service tokens: at least one is needed');
  const room = Math.max(...tokens.map((token) => Buffer.byteLength(token))) + oneMore;
  const inRoom = (into: Buffer, text: string): Buffer => {
    into.fill(0, into.write(text));
    return into;
  };
  const expected = tokens.map((token) => inRoom(Buffer.alloc(room), token));
  const shown = Buffer.alloc(room);
  return (given) => {
    inRoom(shown, given);
    let accepted = false;
    for (const one of expected) accepted = timingSafeEqual(one, shown) || accepted;
    // What a token is not filled up with, nobody can show: zeros.
    return accepted && !given.includes('\0');
  };
};
