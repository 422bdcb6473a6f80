import { limits } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';
import { searchable } from '../../shared/text.ts';

let common: Promise<ReadonlySet<string>> | undefined;

/** The passwords that everybody tries first; read when somebody chooses one for the first time. */
const commonPasswords = (): Promise<ReadonlySet<string>> => {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter((word) => word.length >= limits.password.minLength)),
  );
  return common;
};

const { minLength, maxLength } = limits.password;

/**
 * Whether people may choose this password (NIST SP 800-63B 3.1.1.2): long enough, not on the list of common ones, not made of
 * what everybody knows about its owner. No rules about kinds of characters: they only make passwords worse.
 * @param facts email and name of the owner
 * @throws Problem 400
 */
export const requireAcceptable = async (password: string, facts: readonly string[]): Promise<void> => {
  if (password.length < minLength || password.length > maxLength)
    throw invalid('password.length', `password: must have ${minLength} to ${maxLength} characters`);
  const folded = searchable(password);
  if ((await commonPasswords()).has(folded) || new Set(folded).size < 3)
    throw invalid('password.common', 'password: is one of the most common ones; choose another');
  const own = facts.flatMap((fact) => [searchable(fact), searchable(fact.split('@')[0] ?? fact)]);
  if (own.includes(folded)) throw invalid('password.own_name', 'password: must not be the email or the name');
};
