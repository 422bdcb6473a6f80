export { attemptsAggregate, type SignInFailed } from './attempts.ts';
export { passwordAggregate } from './decider.ts';
export type { PasswordEvent } from './events.ts';
export type { FailureLog } from './failures.ts';
export { createPasswordsFeature } from './feature.ts';
export { createLinkSecrets } from './links.ts';
export { mailLinkReactor } from './mail-link.ts';
export type { SignInLinks } from './sign-in-links.ts';
export { type LimitStore, networkKey } from './throttle.ts';
