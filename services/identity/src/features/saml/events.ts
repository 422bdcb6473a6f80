import type { MemberRole } from '@bindery/service-kit';

/** What is set up about an identity provider. Nothing of it is secret: its certificates are public keys. */
export interface ProviderSettings {
  readonly label: string;
  readonly entityID?: string;
  /** Where people are sent to sign in. */
  readonly ssoURL?: string;
  /** PEM, at most two: the present one and the next. */
  readonly certificates: readonly string[];
  /** Of members who join by signing in; null: guest. */
  readonly defaultRole: MemberRole | null;
  readonly defaultTeam?: string;
}

/** What happened to an identity provider of an organization. */
export type ProviderEvent =
  | {
      readonly type: 'SamlProviderCreated';
      readonly data: ProviderSettings & {
        readonly providerId: string;
        readonly organizationId: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'SamlProviderChanged';
      readonly data: {
        readonly providerId: string;
        readonly organizationId: string;
        /** Only what is different now. */
        readonly changes: Partial<ProviderSettings>;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'SamlProviderDeleted';
      readonly data: { readonly providerId: string; readonly organizationId: string; readonly deletedAt: string };
    };
