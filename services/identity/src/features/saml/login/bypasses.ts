import type { Repository } from '@bindery/event-sourcing';
import { type LiveMembers, membershipsOf } from '../../members/index.ts';
import type { LiveOrganizations } from '../../organizations/index.ts';
import { ownMetadata, type Sessions } from '../../sessions/index.ts';
import type { LoginCommand, LoginEvent, LoginState } from './login-aggregate.ts';

const most = 1000;

/**
 * Sessions as they are, but those that get an administrator past the single sign-on that its organization enforces leave an
 * entry in that organization's audit trail: the way in for when the provider is broken is seen by everybody who looks.
 */
export const recordBypasses = <S extends Pick<Sessions, 'begin'>>(
  deps: {
    readonly members: LiveMembers;
    readonly settingsOf: LiveOrganizations;
    readonly logins: Repository<LoginState, LoginCommand, LoginEvent>;
  },
  sessions: S,
): S => ({
  ...sessions,
  async begin(userId, how, context) {
    const begun = await sessions.begin(userId, how, context);
    if (how.method === 'saml') return begun;
    const { sessionId } = begun;
    const administered = Object.entries(await membershipsOf(deps.members, userId))
      .filter(([, { role }]) => role === 'admin')
      .map(([organizationId]) => organizationId);
    for (let start = 0; start < administered.length; start += most)
      for (const [organizationId, { document }] of await deps
        .settingsOf()
        .getMany(administered.slice(start, start + most)))
        if (document.sso) {
          const bypassedAt = context.now.toISOString();
          const data = { organizationId, userId, sessionId, method: how.method, bypassedAt };
          const metadata = ownMetadata(userId, context, organizationId);
          await deps.logins.handle(`${sessionId}_${organizationId}`, { type: 'NoteSsoBypass', data }, metadata);
        }
    return begun;
  },
});
