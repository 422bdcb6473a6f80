import { required } from '@bindery/service-kit';
import type { SessionLifetimes } from './features/sessions/index.ts';

/** Settings of signing in, read from the environment by the composition root. */
export const signInSettings = {
  SESSION_IDLE_HOURS: required.integer({
    description: 'Hours without any use after which a browser is signed out.',
    fallback: 168,
    min: 1,
    max: 8760,
  }),
  SESSION_MAX_DAYS: required.integer({
    description: 'Days after which a browser is signed out, however much it is used.',
    fallback: 30,
    min: 1,
    max: 400,
  }),
};

/** How people sign in. */
export interface SignInConfig {
  readonly sessions: SessionLifetimes;
}

const hour = 3_600_000;

/** What tests and tools get that say nothing. */
export const defaultSignIn: SignInConfig = { sessions: { idleMs: 168 * hour, absoluteMs: 30 * 24 * hour } };

/** The configuration that the settings make. */
export const signInConfig = (settings: {
  readonly SESSION_IDLE_HOURS: number;
  readonly SESSION_MAX_DAYS: number;
}): SignInConfig => ({
  sessions: { idleMs: settings.SESSION_IDLE_HOURS * hour, absoluteMs: settings.SESSION_MAX_DAYS * 24 * hour },
});
