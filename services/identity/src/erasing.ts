import type { Reactor, ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import { identityAuditProjection, type Origins } from './features/audit/index.ts';
import {
  completeErasureReactor,
  createErasure,
  createErasureHandlers,
  createOwnErasureHandlers,
  type Erasure,
  type ErasureDeps,
  type KeepOutDeps,
  keepErasedOutReactor,
} from './features/erasure/index.ts';
import { isAdministrator } from './features/instance/index.ts';
import { directoryName, type LastSeen } from './features/members/index.ts';
import type { Sessions } from './features/sessions/index.ts';
import type { LiveUsers } from './features/users/index.ts';

/** Longest wait for read models that are to let go of an erased person. */
const scrubWaitMs = 10_000;

/** What erasing people needs of the service: whatever keeps something about them. */
export interface ErasingParts
  extends Pick<ErasureDeps, 'users' | 'emails' | 'organizations' | 'credentials' | 'members' | 'keys' | 'forget'> {
  readonly runtime: ServiceRuntime;
  readonly ports: ServicePorts;
  readonly sessions: Sessions;
  readonly lastSeen: LastSeen;
  readonly origins: Origins;
  readonly liveUsers: LiveUsers;
  readonly profileChanged: () => Promise<void>;
}

/** Ends erasures that were begun, and takes the erased out of organizations that they came into meanwhile. */
export const erasureReactors = (parts: () => KeepOutDeps & { readonly erasure: Erasure }): readonly Reactor[] => [
  completeErasureReactor(parts),
  keepErasedOutReactor(parts),
];

/** Erasing people from all that the service keeps. */
export const createErasing = (parts: ErasingParts) => {
  const { runtime, ports, sessions, lastSeen, origins, liveUsers: users } = parts;
  const erasure = createErasure({
    ...parts,
    isInstanceAdministrator: (userId) => isAdministrator(runtime.live, userId),
    endSessions: async (userId, { correlationId, now }) =>
      void (await sessions.end(userId, { reason: 'removed' }, { requestId: correlationId, now, baseUrl: '' })),
    forgetSeen: (organizationId, userId) => lastSeen.forget(organizationId, userId),
    async forgetPerson(userId) {
      origins.forget(userId);
      await parts.profileChanged();
    },
    async scrub() {
      const head = await ports.eventStore.head(['identity.']);
      for (const name of [directoryName, identityAuditProjection.name]) await runtime.waitFor(name, head, scrubWaitMs);
      await ports.readStore.scrub();
    },
  });
  return {
    erasure,
    handlers: createOwnErasureHandlers({ erasure, users }),
    administration: createErasureHandlers({ erasure, users }),
  };
};
