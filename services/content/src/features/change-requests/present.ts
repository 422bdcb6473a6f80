import type { ChangeRequest } from '@bindery/contracts';
import type { ChangeRequestDocument } from './read-model/document.ts';

/** Address of a change request in the API. */
export const changeRequestLocation = (baseUrl: string, spaceId: string, id: string): string =>
  `${baseUrl}/v1/spaces/${spaceId}/change-requests/${id}`;

/** Whether the primary content has moved on since it was last merged in. */
export const isOutdated = (document: ChangeRequestDocument, head: string): boolean =>
  document.status !== 'merged' && (document.revisionMergedAncestor ?? document.revisionInitial) !== head;

/**
 * A change request as clients see it (resources section 6).
 * @param head newest revision of the space's primary content
 * @param comments how many of its comments are open
 */
export const presentChangeRequest = (
  baseUrl: string,
  document: ChangeRequestDocument,
  head: string,
  comments: number,
): ChangeRequest => {
  const { id, spaceId, number, description, links } = document;
  const optional = <K extends keyof ChangeRequestDocument>(field: K) =>
    document[field] === undefined ? {} : { [field]: document[field] };
  return {
    object: 'change-request',
    id,
    number,
    status: document.status,
    subject: document.subject,
    ...(description === undefined ? {} : { description: JSON.parse(description) }),
    createdBy: document.createdBy,
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
    ...optional('mergedBy'),
    ...optional('mergedAt'),
    space: spaceId,
    revision: document.revision,
    revisionInitial: document.revisionInitial,
    ...optional('revisionMergedAncestor'),
    ...optional('revisionMerged'),
    comments,
    outdated: isOutdated(document, head),
    ...(links === undefined || links.length === 0
      ? {}
      : {
          links: links.map((link) => ({
            id: link.id,
            ref: { kind: 'url' as const, url: link.ref.url },
            ...(link.title === undefined ? {} : { title: link.title }),
          })),
        }),
    urls: {
      app: `${baseUrl}/app/spaces/${spaceId}/change-requests/${number}`,
      location: changeRequestLocation(baseUrl, spaceId, id),
    },
  };
};
