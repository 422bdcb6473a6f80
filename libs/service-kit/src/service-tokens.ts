import { hash, timingSafeEqual } from 'node:crypto';
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

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Tells whether a text is one of the tokens. It takes as long whichever it is, and when it is none: each is compared, by
 * digests of equal length, in constant time.
 * @throws RangeError without any token
 */
export const createTokenCheck = (tokens: readonly string[]): ((given: string) => boolean) => {
  if (tokens.length === 0) throw new RangeError('service tokens: at least one is needed');
  const expected = tokens.map(digest);
  return (given) => {
    const shown = digest(given);
    return expected.map((one) => timingSafeEqual(one, shown)).includes(true);
  };
};
