import type { MemberRole } from '@bindery/service-kit';

interface About {
  readonly resource: 'space' | 'collection';
  readonly resourceId: string;
  /** The organization in which it counts. */
  readonly organizationId: string;
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
}

/** Why somebody has a level no longer. */
export type RevocationReason = 'removed' | 'member-removed' | 'team-deleted' | 'transferred' | 'content-deleted';

/** Events of the stream `content.grants-<space or collection>`: who was given which level on it. */
export type GrantEvent =
  | {
      readonly type: 'AccessGranted';
      readonly data: About & {
        readonly level: MemberRole;
        /** Null: it had none. */
        readonly previousLevel: MemberRole | null;
        readonly grantedBy: string;
        readonly grantedAt: string;
      };
    }
  | {
      readonly type: 'AccessRevoked';
      readonly data: About & {
        readonly previousLevel: MemberRole;
        readonly reason: RevocationReason;
        readonly revokedBy: string;
        readonly revokedAt: string;
      };
    };
