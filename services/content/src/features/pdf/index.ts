import type { pdfOperations } from '@bindery/contracts';
import { type HandlersFor, notFound } from '@bindery/service-kit';
import type { RawRoute } from '../files/index.ts';
import type { PdfDeps } from './deps.ts';
import { choosePages } from './gather.ts';
import { createPdfLinks } from './links.ts';
import { createPdfRoute } from './serve.ts';

export type { PdfDeps } from './deps.ts';

/** PDF files of change requests. */
export interface PdfFeature {
  readonly handlers: HandlersFor<typeof pdfOperations>;
  readonly rawRoute: RawRoute;
}

/** Reference: getChangeRequestPDF, "valid for one hour". */
const validMs = 3_600_000;

export const createPdfFeature = (deps: PdfDeps): PdfFeature => {
  const { access, reader, changeRequests } = deps;
  const links = createPdfLinks(deps.secret);
  return {
    handlers: {
      async getChangeRequestPDF(context, { params, query }) {
        const { spaceId } = params;
        const [{ space }, found] = await Promise.all([
          access.space(context, spaceId, 'view'),
          changeRequests.find(spaceId, params.changeRequestId),
        ]);
        if (found === undefined) throw notFound('change request');
        const { revision: revisionId, number, subject } = found.document;
        const tree = await reader.tree(spaceId, revisionId);
        const { page } = query;
        if (page !== undefined && tree.page(page) === undefined) throw notFound('page');
        const part = page === undefined ? {} : { page, ...(query.only === true ? { only: true as const } : {}) };
        // What is too much is said now, not when the address is opened.
        choosePages(tree, part);
        const title = (page === undefined ? undefined : tree.page(page)?.metadata.title) ?? space.title;
        const url = links.address(context.baseUrl, {
          ...{ spaceId, revisionId, title, ...part },
          subtitle: subject === '' ? `#${number}` : `#${number} ${subject}`,
          until: context.now.getTime() + validMs,
        });
        return { status: 200, body: { url } };
      },
    },
    rawRoute: createPdfRoute(deps, links),
  };
};
