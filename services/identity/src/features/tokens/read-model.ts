import type { OAuthScope } from '@bindery/contracts';
import { documentsPerEvent, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { SignedInBy } from '@bindery/service-kit';
import type { CredentialsEvent } from './events.ts';
import { credentialsAggregateName } from './state.ts';

/** A token that works, or has expired; revoked ones are gone. */
export interface TokenDocument {
  readonly id: string;
  readonly userId: string;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** Absent: everything that the user may do. */
  readonly scopes?: readonly OAuthScope[];
  readonly signedInBy?: SignedInBy;
}

/** Tokens by id, found by hash on every request that no cache answers. */
export const tokenCollection: CollectionSpec = {
  name: 'identity.tokens',
  version: 1,
  indexes: [
    { name: 'by-hash', fields: ['hash'] },
    { name: 'by-user', fields: ['userId', 'createdAt'] },
    { name: 'by-voucher', fields: ['userId', 'signedInBy.organizationId', 'createdAt'] },
  ],
};

/** Tokens, written by the event that issues them and removed by the one that revokes them. */
export const tokensProjection: Projection = documentsPerEvent<CredentialsEvent>({
  name: 'tokens',
  aggregates: [credentialsAggregateName],
  collections: [tokenCollection],
  handles: ['TokenIssued', 'TokenRevoked'],
  toDocuments: ({ type, data }) => {
    const { tokenId: id, userId } = data;
    if (type === 'TokenRevoked') return [{ collection: tokenCollection, id, document: null }];
    const { tokenHash: hash, name, issuedAt: createdAt, expiresAt, scopes, signedInBy } = data;
    const document: TokenDocument = {
      id,
      userId,
      hash,
      name,
      createdAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(signedInBy === undefined ? {} : { signedInBy }),
    };
    return [{ collection: tokenCollection, id, document }];
  },
});
