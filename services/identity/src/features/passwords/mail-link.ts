import type { DomainEvent, Reactor, Recorded } from '@bindery/event-sourcing';
import { isMailAddress, type Mailer } from '@bindery/mail';
import type { Clock } from '@bindery/service-kit';
import { passwordAggregate } from './decider.ts';
import type { LinkPurpose, PasswordEvent } from './events.ts';
import { type LinkSecrets, linkPath } from './links.ts';

/** What the reactor works with; made after the runtime that it belongs to. */
export interface MailLinkDeps {
  /** Absent: no mail can be sent, and none is asked for. */
  readonly mailer: Mailer | undefined;
  readonly secrets: LinkSecrets;
  readonly emailOf: (userId: string) => Promise<string | undefined>;
  readonly clock: Clock;
}

const openings: Readonly<Record<LinkPurpose, string>> = {
  reset: 'Somebody, probably you, asked for a link to sign in to Bindery.',
  invitation: 'You were given an account in Bindery.',
  administrator: 'An administrator made a link for you to sign in to Bindery.',
  'first-start': 'This link signs you in to your new instance of Bindery.',
};

/** Sends one-time links that were asked for by mail: until somebody takes the mail, or the link has expired. */
export const mailLinkReactor = (deps: () => MailLinkDeps): Reactor => ({
  name: 'mail-sign-in-link',
  aggregates: [passwordAggregate.name],
  handles: ['SignInLinkIssued'] satisfies readonly PasswordEvent['type'][],
  from: 'end',
  async react(event: Recorded<DomainEvent>, signal) {
    const { type, data } = event as Recorded<PasswordEvent>;
    if (type !== 'SignInLinkIssued' || !data.mail) return;
    const { mailer, secrets, emailOf, clock } = deps();
    if (mailer === undefined || Date.parse(data.expiresAt) <= clock.now().getTime()) return;
    const to = await emailOf(data.userId);
    // Nobody gets mail there, as an account may be made without one; trying again would change nothing.
    if (to === undefined || !isMailAddress(to)) return;
    const text = [
      openings[data.purpose],
      '',
      `${data.baseUrl}${linkPath}${secrets.write(data.userId, data.linkId)}`,
      '',
      `It works once, until ${data.expiresAt}. You may choose a password there.`,
      'If you did not expect this mail, do nothing: nobody gets in without the link.',
    ].join('\n');
    await mailer.send({ id: event.id, to, subject: 'Sign in to Bindery', text }, signal);
  },
});
