import { ignoreUnknown } from '@bindery/event-sourcing';
import type { EmailEvent } from './events.ts';

/** Who has the email. */
export type EmailState = { readonly status: 'free' } | { readonly status: 'reserved'; readonly userId: string };

/** Prefix of the streams of emails. */
export const emailAggregateName = 'identity.email';

export const initialState = (): EmailState => ({ status: 'free' });

export const evolve = (state: EmailState, event: EmailEvent): EmailState => {
  switch (event.type) {
    case 'EmailReserved':
      return { status: 'reserved', userId: event.data.userId };
    case 'EmailReleased':
      return { status: 'free' };
    default:
      return ignoreUnknown(state, event);
  }
};
