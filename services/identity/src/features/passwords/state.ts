import { ignoreUnknown } from '@bindery/event-sourcing';
import type { PasswordEvent } from './events.ts';

/** The ways in of one user. */
export interface PasswordState {
  readonly password: { readonly passwordId: string; readonly sealed: string } | undefined;
  /** Links that were not used, by id: when they expire. At most {@link openLinks}, the newest. */
  readonly links: ReadonlyMap<string, string>;
}

/** Prefix of the streams, one per user. */
export const passwordAggregateName = 'identity.passwords';

/** How many links of a user work at a time. */
export const openLinks = 5;

export const initialState = (): PasswordState => ({ password: undefined, links: new Map() });

export const evolve = (state: PasswordState, event: PasswordEvent): PasswordState => {
  switch (event.type) {
    case 'PasswordSet': {
      const { passwordId, sealed } = event.data;
      // Whoever set the password wants no older link to work any more.
      return { password: { passwordId, sealed }, links: new Map() };
    }
    case 'SignInLinkIssued': {
      const links = [...state.links, [event.data.linkId, event.data.expiresAt] as const];
      return { ...state, links: new Map(links.slice(-openLinks)) };
    }
    case 'SignInLinkUsed': {
      const links = new Map(state.links);
      links.delete(event.data.linkId);
      return { ...state, links };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
