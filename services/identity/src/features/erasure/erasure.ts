import type { CommandMetadata, Repository } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type { KeyStore } from '../../shared/key-store.ts';
import type { ForgetPrincipal } from '../../shared/ports.ts';
import type { EmailCommand, EmailEvent, EmailState } from '../emails/index.ts';
import { allMembers, type LiveMembers } from '../members/index.ts';
import type { OrganizationRepository } from '../organizations/index.ts';
import type { CredentialsCommand, CredentialsEvent, CredentialsState } from '../tokens/index.ts';
import type { UserCommand, UserEvent, UserState } from '../users/index.ts';

export interface ErasureDeps {
  readonly users: Repository<UserState, UserCommand, UserEvent>;
  readonly emails: Repository<EmailState, EmailCommand, EmailEvent>;
  readonly organizations: Pick<OrganizationRepository, 'handle'>;
  readonly credentials: Repository<CredentialsState, CredentialsCommand, CredentialsEvent>;
  readonly members: LiveMembers;
  readonly keys: KeyStore;
  readonly isInstanceAdministrator: (userId: string) => Promise<boolean>;
  readonly endSessions: (userId: string, metadata: CommandMetadata) => Promise<void>;
  /** Forgets when a member was last seen. */
  readonly forgetSeen: (organizationId: string, userId: string) => Promise<void>;
  readonly forget: ForgetPrincipal;
  /** Ends what is remembered of the person anywhere. */
  readonly forgetPerson: (userId: string) => Promise<void>;
  /** Waits until read models have let go of the person, then leaves nothing of it in their files. */
  readonly scrub: () => Promise<void>;
}

/** Deletes people: what they are is erased, what they did stays, by nobody in particular (docs/operations/erasure.md). */
export interface Erasure {
  /**
   * @throws Problem not-found; conflict when somebody else must take over first: the last administrator of an organization,
   * and administrators of the instance
   */
  erase(userId: string, metadata: CommandMetadata): Promise<void>;
  /** Everything that follows from the event; also for one whose request did not come to that. Idempotent. */
  finish(userId: string, metadata: CommandMetadata): Promise<void>;
}

export const createErasure = (deps: ErasureDeps): Erasure => {
  const { users, emails, organizations, credentials, members, keys } = deps;

  const memberships = (userId: string) => allMembers(members, { userId });

  /** Organizations that would be left without an administrator. */
  const stranded = async (userId: string): Promise<readonly string[]> => {
    const administered = (await memberships(userId)).filter(({ role }) => role === 'admin');
    const alone: string[] = [];
    for (const { organizationId } of administered) {
      const others = await members().query({ where: { organizationId, roleFilter: 'admin' }, limit: 2 });
      if (others.every(({ document }) => document.userId === userId)) alone.push(organizationId);
    }
    return alone;
  };

  const leaveAll = async (
    userId: string,
    type: 'RemoveMember' | 'RemoveErasedMember',
    metadata: CommandMetadata,
  ): Promise<void> => {
    for (const { organizationId } of await memberships(userId)) {
      const data = { organizationId, userId, at: metadata.now.toISOString() };
      await organizations.handle(organizationId, { type, data }, { ...metadata, organizationId });
      await deps.forgetSeen(organizationId, userId);
    }
  };

  const finish: Erasure['finish'] = async (userId, metadata) => {
    const { state } = await users.load(userId);
    if (state.status !== 'erased') return;
    const at = metadata.now.toISOString();
    // It may have made an organization, or been let into one, between the look and the event.
    await leaveAll(userId, 'RemoveErasedMember', metadata);
    const { tokens } = (await credentials.load(userId)).state;
    for (const tokenId of tokens.keys())
      await credentials.handle(userId, { type: 'RevokeToken', data: { userId, tokenId, revokedAt: at } }, metadata);
    await deps.endSessions(userId, metadata);
    const { emailDigest } = state;
    await emails.handle(emailDigest, { type: 'ReleaseEmail', data: { emailDigest, userId, releasedAt: at } }, metadata);
    await keys.destroy(userId);
    await deps.forget(userId);
    await deps.forgetPerson(userId);
    await keys.scrub();
    await deps.scrub();
  };

  return {
    finish,
    async erase(userId, metadata) {
      const { state } = await users.load(userId);
      if (state.status === 'none') throw notFound('user');
      if (state.status === 'active') {
        if (await deps.isInstanceAdministrator(userId))
          throw conflict('user.instance_administrator', 'The user administers the instance and cannot be deleted.');
        const alone = await stranded(userId);
        if (alone.length > 0)
          throw conflict(
            'user.last_administrator',
            `The user is the last administrator of ${alone.slice(0, 20).join(', ')}; name another one there first.`,
            { organizations: alone.slice(0, 20) },
          );
        await leaveAll(userId, 'RemoveMember', metadata);
        await users.handle(
          userId,
          { type: 'EraseUser', data: { userId, erasedAt: metadata.now.toISOString() } },
          metadata,
        );
      }
      await finish(userId, metadata);
    },
  };
};
