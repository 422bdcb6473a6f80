import type { ContentImportRun } from '@bindery/contracts';
import { type ImportPagesDocument, type ImportRunDocument, primary } from './read-model.ts';

/** Address of an import in the API. */
export const importRunLocation = (baseUrl: string, organizationId: string, id: string): string =>
  `${baseUrl}/v1/org/${organizationId}/imports/${id}`;

/** An import as clients see it (resources section 0). @param pages of single ones; lists leave them out */
export const presentImportRun = (
  baseUrl: string,
  document: ImportRunDocument,
  pages?: ImportPagesDocument['pages'],
): ContentImportRun => {
  const { id, organizationId, request, status, reason, startedAt, completedAt, createdAt, updatedAt, site } = document;
  const { source, pageId: page } = request;
  const changeRequest = document.into === primary ? document.changeRequestId : document.into;
  return {
    object: 'import-run',
    id,
    status,
    ...(reason === undefined ? {} : { reason }),
    source:
      source.type === 'website' ? { type: 'website', url: source.url } : { type: 'file', files: [...source.files] },
    target: {
      space: document.spaceId,
      ...(changeRequest === undefined ? {} : { changeRequest }),
      ...(page === undefined ? {} : { page }),
    },
    ...(site === null ? {} : { site }),
    createdBy: request.requestedBy,
    createdAt,
    updatedAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(completedAt === undefined ? {} : { completedAt }),
    urls: { location: importRunLocation(baseUrl, organizationId, id) },
    ...(pages === undefined ? {} : { pages: pages.map((it) => ({ ...it })) }),
  };
};
