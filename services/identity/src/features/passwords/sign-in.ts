import { limits } from '@bindery/contracts';
import { invalid, type Principal, Problem } from '@bindery/service-kit';
import { normalizeEmail } from '../../shared/text.ts';
import { ownMetadata, type SessionContext, type Sessions } from '../sessions/index.ts';
import type { Devices } from './devices.ts';
import type { FailureLog } from './failures.ts';
import type { PasswordHasher } from './hashing.ts';
import type { PasswordStore } from './password-store.ts';
import { requireAcceptable } from './rules.ts';
import type { SignInThrottle } from './throttle.ts';

/** Who is at the other end. */
export interface Browser {
  readonly address: string;
  readonly userAgent?: string;
}

export interface SignInDeps {
  readonly passwords: PasswordStore;
  readonly hasher: PasswordHasher;
  readonly throttle: SignInThrottle;
  readonly devices: Devices;
  readonly failures: FailureLog;
  readonly sessions: Sessions;
  /** Keyed digest of a normalized email. */
  readonly digest: (normalized: string) => string;
  /** Who has the email with this digest. */
  readonly holderOf: (digest: string) => Promise<string | undefined>;
  /** Whether the account is in use. */
  readonly isActive: (userId: string) => Promise<boolean>;
  /** Email and name of a user. */
  readonly factsAbout: (userId: string) => Promise<readonly string[]>;
}

/** Signing in with a password, and changing it. */
export interface PasswordSignIn {
  /**
   * @returns `Set-Cookie` header values
   * @throws Problem 401 whatever was wrong, 429, 503
   */
  signIn(
    given: Browser & { readonly email: string; readonly password: string; readonly device?: string },
    context: SessionContext,
  ): Promise<readonly string[]>;
  /**
   * Ends all sessions of the caller and begins a new one.
   * @throws Problem 400 when the current password is wrong or the new one cannot be chosen, 429, 503
   */
  change(
    principal: Principal,
    given: Browser & { readonly currentPassword: string; readonly newPassword: string },
    context: SessionContext,
  ): Promise<readonly string[]>;
}

const refused = (): Problem => new Problem('unauthenticated', 'sign_in.failed', 'Email or password is wrong.');

/** Longer ones are not hashed. This says nothing about any account. */
const tooLong = (password: string): boolean => password.length > limits.password.maxLength;

export const createPasswordSignIn = (deps: SignInDeps): PasswordSignIn => {
  const { passwords, hasher, throttle, devices, failures, sessions } = deps;
  return {
    async signIn({ email, password, device, address, userAgent }, context) {
      const normalized = normalizeEmail(email.slice(0, limits.user.email + 1));
      const account = deps.digest(normalized);
      const userId = await deps.holderOf(account);
      const known = userId === undefined ? undefined : devices.known(device, userId, context.now);
      const attempt = { address, account, device: known };
      await throttle.admit(attempt);
      if (tooLong(password)) throw refused();
      const stored = userId === undefined ? undefined : await passwords.load(userId);
      // Without an account, or a password, the same work is done for nothing: time tells nobody who has an account.
      const right = await hasher.verify(password, stored?.hash);
      const client = { address, ...(userAgent === undefined ? {} : { userAgent }) };
      if (!right || userId === undefined || stored === undefined || !(await deps.isActive(userId))) {
        failures.note({ userId, method: 'password', reason: 'password', client }, context);
        throw refused();
      }
      await throttle.succeeded(attempt);
      if (hasher.isOutdated(stored.hash))
        await passwords.replace(userId, stored, password, ownMetadata(userId, context));
      const { cookie } = await sessions.begin(userId, { method: 'password', client }, context);
      return [cookie, devices.mark(userId, context.now, context.baseUrl)];
    },

    async change({ id: userId }, { currentPassword, newPassword, address, userAgent }, context) {
      const facts = await deps.factsAbout(userId);
      const account = deps.digest(normalizeEmail(facts[0] ?? userId));
      // Counted like the attempts of a browser that the owner uses: who stole a session may not guess on and on.
      await throttle.admit({ address, account, device: `session-of-${userId}` });
      if (tooLong(currentPassword)) throw refused();
      const stored = await passwords.load(userId);
      const client = { address, ...(userAgent === undefined ? {} : { userAgent }) };
      if (!(await hasher.verify(currentPassword, stored?.hash)) || stored === undefined) {
        failures.note({ userId, method: 'password', reason: 'current-password', client }, context);
        throw invalid('password.current', 'currentPassword: is wrong');
      }
      await requireAcceptable(newPassword, facts);
      await passwords.replace(userId, stored, newPassword, ownMetadata(userId, context));
      await sessions.end(userId, { reason: 'password-changed' }, context);
      const { cookie } = await sessions.begin(userId, { method: 'password', client }, context);
      return [cookie, devices.mark(userId, context.now, context.baseUrl)];
    },
  };
};
