import type { MemberRole } from '@bindery/service-kit';

/** What a link gives: a role in the organization, or a level on content for a guest. null: guest, or no level. */
export type LinkGrant =
  | { readonly kind: 'organization'; readonly role: MemberRole | null }
  | { readonly kind: 'space' | 'collection'; readonly id: string; readonly role: MemberRole | null };

/** What happened to an invite link. */
export type InviteLinkEvent =
  | {
      readonly type: 'InviteLinkCreated';
      readonly data: {
        readonly organizationId: string;
        readonly inviteId: string;
        readonly grant: LinkGrant;
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'InviteLinkChanged';
      readonly data: {
        readonly organizationId: string;
        readonly inviteId: string;
        readonly grant: LinkGrant;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'InviteLinkDeleted';
      readonly data: { readonly organizationId: string; readonly inviteId: string; readonly deletedAt: string };
    };
