import type { MemberRole } from '@bindery/service-kit';

interface OfInvitation {
  /** Keyed hash of the normalized address, also the id of the stream: no address in a stream name. */
  readonly emailDigest: string;
  readonly organizationId: string;
  readonly invitationId: string;
}

/** What happened to the invitations of an address whose owner has no account yet. */
export type InvitationEvent =
  | {
      readonly type: 'EmailInvited';
      readonly data: OfInvitation & {
        /** The address, sealed under a key of this invitation alone, which goes when the invitation does. */
        readonly sealedEmail: string;
        readonly role: MemberRole | null;
        readonly sso: boolean;
        readonly invitedBy: string;
        readonly invitedAt: string;
      };
    }
  | {
      readonly type: 'InvitationChanged';
      readonly data: OfInvitation & {
        readonly role: MemberRole | null;
        readonly sso: boolean;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'InvitationAccepted';
      readonly data: OfInvitation & { readonly userId: string; readonly acceptedAt: string };
    }
  | {
      readonly type: 'InvitationWithdrawn';
      readonly data: OfInvitation & {
        readonly withdrawnAt: string;
        /** Nobody withdrew it: it had waited too long. */
        readonly expired?: true;
      };
    };

/** Under which key the address of an invitation is sealed. */
export const invitationKey = (invitationId: string): string => `invitation.${invitationId}`;

/** What the sealed address is bound to. */
export const invitationPurpose = (invitationId: string): string => `invitation-email:${invitationId}`;
