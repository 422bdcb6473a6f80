import { until } from '@bindery/testing/event-sourcing';
import { ok, type Target } from './support.ts';

/** Ids by the name of the path parameter that they stand in. */
export type Ids = Readonly<Record<string, string>>;

interface Made {
  readonly id: string;
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const document = (text: string) => ({ body: { markdown: text } });

/**
 * How a resource for a path parameter is made, given those before it. Operations whose path has a parameter that is not
 * here fail the matrix: whoever declares one adds a line.
 */
export const makers: Readonly<Record<string, (by: Target, ids: Ids, tag: string) => Promise<string>>> = {
  userId: async (_by, ids) => ids.userId ?? '',
  spaceId: async (by, ids, tag) =>
    (await ok<Made>(by, 'POST', `/v1/orgs/${ids.organizationId}/spaces`, { title: `Space ${tag}` })).id,
  collectionId: async (by, ids, tag) =>
    (await ok<Made>(by, 'POST', `/v1/orgs/${ids.organizationId}/collections`, { title: `Collection ${tag}` })).id,
  changeRequestId: async (by, ids, tag) =>
    (await ok<Made>(by, 'POST', `/v1/spaces/${ids.spaceId}/change-requests`, { subject: `Open ${tag}` })).id,
  commentId: async (by, ids, tag) =>
    (await ok<Made>(by, 'POST', `/v1/spaces/${ids.spaceId}/comments`, document(`Comment ${tag}`))).id,
  commentReplyId: async (by, ids, tag) =>
    (
      await ok<Made>(
        by,
        'POST',
        `/v1/spaces/${ids.spaceId}/comments/${ids.commentId}/replies`,
        document(`Reply ${tag}`),
      )
    ).id,
  commentIdInChangeRequest: async (by, ids, tag) =>
    (
      await ok<Made>(
        by,
        'POST',
        `/v1/spaces/${ids.spaceId}/change-requests/${ids.changeRequestId}/comments`,
        document(`Comment ${tag}`),
      )
    ).id,
  commentReplyIdInChangeRequest: async (by, ids, tag) =>
    (
      await ok<Made>(
        by,
        'POST',
        `/v1/spaces/${ids.spaceId}/change-requests/${ids.changeRequestId}/comments/${ids.commentIdInChangeRequest}/replies`,
        document(`Reply ${tag}`),
      )
    ).id,
  reviewId: async (by, ids) =>
    (
      await ok<Made>(by, 'POST', `/v1/spaces/${ids.spaceId}/change-requests/${ids.changeRequestId}/reviews`, {
        status: 'approved',
      })
    ).id,
  specSlug: async (by, ids, tag) => {
    const slug = `spec-${tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
    const text = '{"openapi":"3.1.0","info":{"title":"Matrix","version":"1"},"paths":{}}';
    await ok(by, 'PUT', `/v1/orgs/${ids.organizationId}/openapi/${slug}`, { source: { text } });
    // It has a version when it has been read.
    const at = `/v1/orgs/${ids.organizationId}/openapi/${slug}`;
    await until(
      'the specification is read',
      async () => (await ok<{ processingState: string }>(by, 'GET', at)).processingState === 'complete',
    );
    return slug;
  },
  importRunId: async (by, ids, tag) => {
    const { organizationId } = ids;
    const space = (await ok<Made>(by, 'POST', `/v1/orgs/${organizationId}/spaces`, { title: `Imported ${tag}` })).id;
    // Nothing is there; the run says so.
    const source = { type: 'website', url: 'http://127.0.0.1:9/' };
    return (await ok<Made>(by, 'POST', `/v1/org/${organizationId}/imports`, { source, target: { space } })).id;
  },
  teamId: async (by, ids, tag) =>
    (await ok<Made>(by, 'PUT', `/v1/orgs/${ids.organizationId}/teams`, { title: `Team ${tag}` })).id,
  samlProviderId: async (by, ids, tag) =>
    (await ok<Made>(by, 'POST', `/v1/orgs/${ids.organizationId}/saml`, { label: `Provider ${tag}` })).id,
  inviteId: async (by, ids) =>
    (await ok<Made>(by, 'POST', `/v1/orgs/${ids.organizationId}/link-invites`, { role: 'read' })).id,
  auditEventId: async (by, ids) =>
    (await ok<{ items: Made[] }>(by, 'GET', `/v1/orgs/${ids.organizationId}/audit-events?limit=1`)).items[0]?.id ?? '',
};

/** Parameters that name nothing that has to be made: words, or resources that only their owner has. */
export const words: Ids = {
  emailDomain: 'example.com',
  subdomain: 'matrix',
  pagePath: 'page',
  tokenId: 'missing',
  sessionId: 'missing',
  versionId: 'missing',
  group: 'missing',
  topic: 'missing',
  key: 'missing',
  service: 'missing',
  offset: '0',
  reactor: 'missing',
  stream: 'missing',
};

/** Parameters of parts of a space's content; made together with the space. */
export const contentParameters = ['pageId', 'fileId', 'documentId', 'revisionId', 'reusableContentId'] as const;

/** A space with content, and what its paths name. */
export const furnishSpace = async (by: Target, organizationId: string, title: string): Promise<Ids> => {
  const { id: spaceId } = await ok<Made>(by, 'POST', `/v1/orgs/${organizationId}/spaces`, { title });
  const changes = `/v1/spaces/${spaceId}/change-requests`;
  const { id } = await ok<Made>(by, 'POST', changes, { subject: 'Furnish' });
  const edited = await ok<{ changes: { page: Made }[]; insertedFiles: Made[] }>(
    by,
    'POST',
    `${changes}/${id}/content?compat=false`,
    {
      changes: [
        { operation: 'insert_files', files: [{ base64: pixel, name: 'pixel.png', contentType: 'image/png' }] },
        { operation: 'insert_page', title: 'Page', document: { markdown: 'Text' } },
      ],
    },
  );
  const merged = await ok<{ revision: string }>(by, 'POST', `${changes}/${id}/merge`);
  const pageId = edited.changes[0]?.page.id ?? '';
  const page = await ok<{ documentId?: string }>(by, 'GET', `/v1/spaces/${spaceId}/content/page/${pageId}`);
  return {
    organizationId,
    spaceId,
    pageId,
    fileId: edited.insertedFiles[0]?.id ?? '',
    documentId: page.documentId ?? '',
    revisionId: merged.revision,
    // No operation makes one yet.
    reusableContentId: 'missing',
  };
};

/** Names of the fixtures of a path, in order: its parameters, where comments on a change request are others than on a space. */
export const parametersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => fixtureOf(path, name));

const fixtureOf = (path: string, name: string): string =>
  name.startsWith('comment') && path.includes('{changeRequestId}') ? `${name}InChangeRequest` : name;

/** A path with its parameters put in. */
export const fillPath = (path: string, ids: Ids): string =>
  path.replaceAll(/\{([^}*]+)\*?\}/g, (_whole, name: string) =>
    encodeURIComponent(ids[fixtureOf(path, name)] ?? 'missing'),
  );
