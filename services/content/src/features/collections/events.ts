import type { MemberRole } from '@bindery/service-kit';

export type DefaultLevel = MemberRole | null | 'inherit';

/** A collection as it goes from one organization to another. */
export interface CollectionFacts {
  readonly collectionId: string;
  readonly title: string;
  readonly description?: string;
  readonly parent: string | null;
  readonly defaultLevel: DefaultLevel;
  readonly order: string;
}

/**
 * Events of the stream `content.collections-<organization>`: all collections of an organization are decided in one place, so
 * that concurrent moves can neither make a cycle nor nest too deep.
 */
export type CollectionEvent =
  | {
      readonly type: 'CollectionCreated';
      readonly data: {
        readonly organizationId: string;
        readonly collectionId: string;
        readonly title: string;
        readonly parent: string | null;
        readonly defaultLevel: DefaultLevel;
        readonly order: string;
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'CollectionChanged';
      readonly data: {
        readonly organizationId: string;
        readonly collectionId: string;
        readonly title?: string;
        /** Empty = none. */
        readonly description?: string;
        readonly defaultLevel?: DefaultLevel;
        readonly changedBy: string;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'CollectionMoved';
      readonly data: {
        readonly organizationId: string;
        readonly collectionId: string;
        readonly parent: string | null;
        readonly order: string;
        readonly movedBy: string;
        readonly movedAt: string;
      };
    }
  | {
      readonly type: 'CollectionDeleted';
      readonly data: {
        readonly organizationId: string;
        readonly collectionId: string;
        /** It and the collections inside, with what the default of each meant in the end. */
        readonly collections: readonly { readonly collectionId: string; readonly lastDefault: DefaultLevel }[];
        readonly deletedBy: string;
        readonly deletedAt: string;
      };
    }
  /** It and everything inside goes to another organization; nothing in it changes until it is there. */
  | {
      readonly type: 'CollectionTransferStarted';
      readonly data: {
        readonly organizationId: string;
        readonly transferId: string;
        readonly to: string;
        /** It, at the top of the other organization, and the collections inside, each after the one that it is in. */
        readonly collections: readonly CollectionFacts[];
        readonly startedBy: string;
        readonly startedAt: string;
      };
    }
  | {
      readonly type: 'CollectionsReceived';
      readonly data: {
        readonly organizationId: string;
        readonly transferId: string;
        readonly from: string;
        readonly collections: readonly CollectionFacts[];
        readonly receivedBy: string;
        readonly receivedAt: string;
      };
    }
  | {
      readonly type: 'CollectionsSent';
      readonly data: {
        readonly organizationId: string;
        readonly transferId: string;
        readonly to: string;
        readonly collectionIds: readonly string[];
        readonly sentBy: string;
        readonly sentAt: string;
      };
    };
