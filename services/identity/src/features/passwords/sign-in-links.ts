import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '@bindery/contracts';
import { createIdSource } from '@bindery/service-kit';
import { normalizeEmail } from '../../shared/text.ts';
import { ownMetadata, type SessionContext, type Sessions } from '../sessions/index.ts';
import { linkRefused } from './decider.ts';
import type { Devices } from './devices.ts';
import type { LinkPurpose } from './events.ts';
import type { FailureLog } from './failures.ts';
import { type LinkSecrets, linkPath } from './links.ts';
import type { PasswordRepository, PasswordStore } from './password-store.ts';
import { requireAcceptable } from './rules.ts';
import type { Browser, SignInDeps } from './sign-in.ts';
import type { SignInThrottle } from './throttle.ts';

/** One-time links: the way in for who has no password (yet), or forgot it. Nobody's guessing at the password stops them. */
export interface SignInLinks {
  /** Makes a link that works once. */
  issue(
    userId: string,
    how: { readonly purpose: LinkPurpose; readonly mail: boolean },
    context: SessionContext,
  ): Promise<{ readonly url: string; readonly expiresAt: string }>;
  /**
   * Sends one to whoever has the email, some time after the caller was answered: how long the answer takes, and how busy
   * the process is right then, says nothing about anybody.
   */
  request(given: { readonly email: string; readonly address: string }, context: SessionContext): Promise<void>;
  /**
   * Signs in, and sets the password when one is given; setting it ends all other sessions.
   * @returns `Set-Cookie` header values
   * @throws Problem 400 for a password that cannot be chosen (the link still works), 401 for the link, 429
   */
  use(
    given: Browser & { readonly link: string; readonly password?: string },
    context: SessionContext,
  ): Promise<readonly string[]>;
  /** Begins what is put off, and waits for what goes on in the background. */
  settle(): Promise<void>;
}

const hour = 3_600_000;
const lifetimeMs: Readonly<Record<LinkPurpose, number>> = {
  reset: hour,
  'first-start': 24 * hour,
  administrator: 72 * hour,
  invitation: 7 * 24 * hour,
};

/** So many requests for mail wait or are worked on at a time; others are left out, as if the limit were reached. */
const maxInBackground = 500;
/** A request for mail is begun so many ms later, at least and at most: its answer is out long before. */
const putOffMs = { least: 200, most: 1200 };

export interface SignInLinksDeps extends Pick<SignInDeps, 'digest' | 'holderOf' | 'isActive' | 'factsAbout'> {
  readonly repository: PasswordRepository;
  readonly passwords: PasswordStore;
  readonly secrets: LinkSecrets;
  readonly throttle: SignInThrottle;
  readonly devices: Devices;
  readonly failures: FailureLog;
  readonly sessions: Sessions;
  /** Makes an account for somebody who is invited and has none; undefined for others. */
  readonly welcome: (email: string, digest: string, context: SessionContext) => Promise<string | undefined>;
  readonly onProblem: (error: unknown) => void;
}

export const createSignInLinks = (deps: SignInLinksDeps): SignInLinks => {
  const { repository, passwords, secrets, throttle, devices, sessions } = deps;
  const background = new Set<Promise<void>>();
  let hurry = new AbortController();
  const putOff = async (): Promise<void> => {
    const ms = putOffMs.least + Math.random() * (putOffMs.most - putOffMs.least);
    const { signal } = hurry;
    await delay(ms, undefined, { signal, ref: false }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  };

  const issue: SignInLinks['issue'] = async (userId, { purpose, mail }, context) => {
    const linkId = createIdSource().id();
    const expiresAt = new Date(context.now.getTime() + lifetimeMs[purpose]).toISOString();
    const { baseUrl } = context;
    const data = { userId, linkId, purpose, mail, baseUrl, issuedAt: context.now.toISOString(), expiresAt };
    await repository.handle(userId, { type: 'IssueSignInLink', data }, ownMetadata(userId, context));
    return { url: `${baseUrl}${linkPath}${secrets.write(userId, linkId)}`, expiresAt };
  };

  const send = async (email: string, context: SessionContext): Promise<void> => {
    const account = deps.digest(normalizeEmail(email));
    if (!(await throttle.admitMailTo(account))) return;
    const holder = await deps.holderOf(account);
    if (holder !== undefined) {
      if (await deps.isActive(holder)) await issue(holder, { purpose: 'reset', mail: true }, context);
      return;
    }
    // Only who reads the mail gets into the account, so it shows that the address is theirs.
    const invited = await deps.welcome(email.trim(), account, context);
    if (invited !== undefined) await issue(invited, { purpose: 'invitation', mail: true }, context);
  };

  return {
    issue,
    async request({ email, address }, context) {
      if (email.length > limits.user.email) return;
      // Before it waits, so that one caller cannot take the places of all; where it comes from says nothing of anybody.
      if (!(await throttle.admitMailFrom(address))) return;
      if (background.size >= maxInBackground) return;
      const work = putOff()
        .then(() => send(email, context))
        .catch(deps.onProblem)
        .finally(() => background.delete(work));
      background.add(work);
    },
    async use({ link, password, address, userAgent }, context) {
      const named = secrets.read(link);
      // Guesses are hopeless; this bounds the work that they make.
      await throttle.admit({ address, account: `link:${named?.linkId ?? 'none'}`, device: named?.linkId });
      const client = { address, ...(userAgent === undefined ? {} : { userAgent }) };
      if (named === undefined || !(await deps.isActive(named.userId))) throw linkRefused();
      const { userId, linkId } = named;
      // A link that does not work any more gets no further: neither rules nor hashing.
      if (!(await repository.load(userId)).state.links.has(linkId)) {
        deps.failures.note({ userId, method: 'link', reason: 'link', client }, context);
        throw linkRefused();
      }
      if (password !== undefined) await requireAcceptable(password, await deps.factsAbout(userId));
      const set = password === undefined ? undefined : await passwords.prepare(userId, password, context.now);
      const data = { userId, linkId, usedAt: context.now.toISOString(), ...(set && { password: set }) };
      await repository.handle(userId, { type: 'UseSignInLink', data }, ownMetadata(userId, context));
      if (set !== undefined) await sessions.end(userId, { reason: 'password-changed' }, context);
      const { cookie } = await sessions.begin(userId, { method: 'link', client }, context);
      return [cookie, devices.mark(userId, context.now, context.baseUrl)];
    },
    async settle() {
      hurry.abort();
      hurry = new AbortController();
      await Promise.all(background);
    },
  };
};
