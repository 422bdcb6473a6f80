import type { CollectionSpec } from '@bindery/read-store';
import type { MemberRole } from '@bindery/service-kit';

/** A level that a user or a team was given on a space or a collection. */
export interface GrantDocument {
  readonly resourceId: string;
  readonly resource: 'space' | 'collection';
  /** It counts as long as the resource is of this organization. */
  readonly organizationId: string;
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
  /** Both of the above, for looking up many at a time: `user:<id>`. */
  readonly subject: string;
  readonly level: MemberRole;
  readonly grantedAt: string;
}

export const grantsSpec: CollectionSpec = {
  name: 'content.grants',
  version: 1,
  indexes: [
    { name: 'by_subject', fields: ['organizationId', 'subject', 'resourceId'] },
    { name: 'by_resource', fields: ['resourceId', 'kind', 'subjectId'] },
  ],
};

/** All grants on one space or collection: one per stream, in step with it. */
export interface ResourceGrantsDocument {
  readonly resource: 'space' | 'collection';
  readonly organizationId: string;
  /** Levels by `subject`. */
  readonly levels: Readonly<Record<string, MemberRole>>;
}

export const resourceGrantsSpec: CollectionSpec = { name: 'content.resource-grants', version: 1, indexes: [] };

export const subjectOf = (kind: 'user' | 'team', id: string): string => `${kind}:${id}`;
