import type { MemberRole } from '@bindery/service-kit';

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
      readonly type: 'MemberJoined';
      readonly data: {
        readonly organizationId: string;
        readonly userId: string;
        /** null: guest. */
        readonly role: MemberRole | null;
        readonly joinedAt: string;
        /** Version of this membership, from 1: its ETag. */
        readonly version: number;
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
    };
