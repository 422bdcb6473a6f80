import type { MergeRules } from '@bindery/contracts';
import type { MemberRole } from '@bindery/service-kit';
import type { Hostname } from '../../shared/hostnames.ts';

/** Settings that administrators change; absent ones stay as they are, null clears. */
export interface OrganizationChanges {
  readonly title?: string;
  readonly emailDomains?: readonly string[];
  readonly hostname?: Hostname;
  readonly defaultRole?: MemberRole | null;
  readonly logo?: string | null;
  readonly sso?: boolean;
  readonly ai?: boolean;
  readonly inviteLinks?: boolean;
  readonly mergeRules?: MergeRules;
}

/**
 * What happened to an organization and to its members. Members are part of the organization's stream: it is created
 * together with its first administrator in one append, and a rule over all members ("at least one administrator") can be
 * decided.
 */
export type OrganizationEvent =
  | {
      readonly type: 'OrganizationCreated';
      readonly data: {
        readonly organizationId: string;
        readonly title: string;
        readonly emailDomains: readonly string[];
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'OrganizationUpdated';
      readonly data: {
        readonly organizationId: string;
        readonly changes: OrganizationChanges;
        /** The hostname that was given up by this change. */
        readonly previousHostname?: Hostname;
        readonly updatedBy: string;
        readonly updatedAt: string;
        /** Version of the settings, from 0 at creation: the ETag. */
        readonly version: number;
      };
    }
  | {
      readonly type: 'MemberJoined';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        /** null: guest. */
        readonly role: MemberRole | null;
        readonly joinedAt: string;
        /** Version of this membership: its ETag. From 1; above all earlier ones of members who left. */
        readonly version: number;
        /** Signs in through SSO. */
        readonly sso?: boolean;
      };
    }
  | {
      readonly type: 'MemberRoleChanged';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        readonly role: MemberRole | null;
        readonly previousRole: MemberRole | null;
        readonly changedAt: string;
        readonly version: number;
      };
    }
  | {
      readonly type: 'MemberSsoChanged';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        readonly sso: boolean;
        readonly changedAt: string;
        readonly version: number;
      };
    }
  | {
      readonly type: 'MemberRemoved';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        readonly role: MemberRole | null;
        readonly removedAt: string;
        /** Version that the membership had last. */
        readonly version: number;
      };
    };

/** Events on one membership. */
export type MemberEvent = Exclude<OrganizationEvent, { type: 'OrganizationCreated' | 'OrganizationUpdated' }>;
