import type { AggregateDefinition } from '@bindery/event-sourcing';
import { conflict, type Problem } from '@bindery/service-kit';
import type { EmailEvent, EmailReleased, EmailReserved } from './events.ts';
import { type EmailState, emailAggregateName, evolve, initialState } from './state.ts';

/** Takes an email for a user. */
export interface ReserveEmail {
  readonly type: 'ReserveEmail';
  readonly data: EmailReserved['data'];
}

/** Frees an email of a user who was erased. */
export interface ReleaseEmail {
  readonly type: 'ReleaseEmail';
  readonly data: EmailReleased['data'];
}

export type EmailCommand = ReserveEmail | ReleaseEmail;

export const decide = (command: EmailCommand, state: EmailState): readonly EmailEvent[] => {
  if (command.type === 'ReleaseEmail') {
    const held = state.status === 'reserved' && state.userId === command.data.userId;
    return held ? [{ type: 'EmailReleased', data: command.data }] : [];
  }
  if (state.status === 'free') return [{ type: 'EmailReserved', data: command.data }];
  if (state.userId === command.data.userId) return [];
  throw emailTaken();
};

/** 409: another user has the email. */
export const emailTaken = (): Problem => conflict('user.email_taken', 'email: another user has it');

/** One stream per email: being first on it is what makes an email unique (DESIGN section 4). */
export const emailAggregate: AggregateDefinition<EmailState, EmailCommand, EmailEvent> = {
  name: emailAggregateName,
  decider: { initialState, decide, evolve },
};
