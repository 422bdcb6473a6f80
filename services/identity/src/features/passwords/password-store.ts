import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { createIdSource } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import type { PasswordCommand } from './decider.ts';
import type { PasswordEvent } from './events.ts';
import type { PasswordHasher } from './hashing.ts';
import type { PasswordState } from './state.ts';

export type PasswordRepository = Repository<PasswordState, PasswordCommand, PasswordEvent>;

/** A password as it is stored. */
export interface StoredPassword {
  readonly passwordId: string;
  /** PHC string. */
  readonly hash: string;
}

/** Passwords of users: hashed, and the hashes sealed. */
export interface PasswordStore {
  /** undefined: the user has none, or is erased. */
  load(userId: string): Promise<StoredPassword | undefined>;
  /** What an event says about a new password. */
  prepare(
    userId: string,
    password: string,
    now: Date,
  ): Promise<{ readonly userId: string; readonly passwordId: string; readonly sealed: string; readonly setAt: string }>;
  /** @throws Problem 409 when another password was set meanwhile */
  replace(userId: string, before: StoredPassword, password: string, metadata: CommandMetadata): Promise<void>;
}

const purpose = (passwordId: string): string => `password:${passwordId}`;

export const createPasswordStore = (deps: {
  readonly repository: PasswordRepository;
  readonly sealer: PersonalDataSealer;
  readonly hasher: PasswordHasher;
}): PasswordStore => {
  const { repository, sealer, hasher } = deps;
  const prepare: PasswordStore['prepare'] = async (userId, password, now) => {
    const passwordId = createIdSource().id();
    const sealed = await sealer.sealText(userId, purpose(passwordId), await hasher.hash(password));
    return { userId, passwordId, sealed, setAt: now.toISOString() };
  };
  return {
    prepare,
    async load(userId) {
      const { password } = (await repository.load(userId)).state;
      if (password === undefined) return undefined;
      const hash = await sealer.openText(userId, purpose(password.passwordId), password.sealed);
      return hash === undefined ? undefined : { passwordId: password.passwordId, hash };
    },
    async replace(userId, before, password, metadata) {
      const data = { ...(await prepare(userId, password, metadata.now)), replaces: before.passwordId };
      await repository.handle(userId, { type: 'ReplacePassword', data }, metadata);
    },
  };
};
