import { limits } from '@bindery/contracts';
import { extractReferences } from '@bindery/documents';
import type { PdfPage, PdfRequest } from '@bindery/pdf';
import { invalid } from '@bindery/service-kit';
import type { Tree } from '../revisions/index.ts';
import type { PdfDeps } from './deps.ts';
import type { PdfTicket } from './links.ts';

/** Pictures with more points are named instead of shown: drawing takes memory by points, not by bytes. */
const maxPixels = 25_000_000;
/** Bodies read at once. */
const batch = 100;

interface ChosenPage {
  readonly id: string;
  readonly depth: number;
}

/**
 * The pages that a file holds, in reading order; hidden ones only when they are asked for.
 * @throws Problem invalid for more than a file may have
 */
export const choosePages = (tree: Tree, { page, only }: Pick<PdfTicket, 'page' | 'only'>): readonly ChosenPage[] => {
  const chosen: ChosenPage[] = [];
  const visit = (ids: readonly string[], depth: number): void => {
    for (const id of ids) {
      const node = tree.page(id);
      if (node === undefined || node.type === 'link' || (node.metadata.hidden === true && id !== page)) continue;
      if (chosen.length >= limits.pdf.pages)
        throw invalid(
          'pdf.too_many_pages',
          `A PDF has at most ${limits.pdf.pages} pages; ask for a part with \`page\`.`,
        );
      chosen.push({ id, depth });
      if (only !== true) visit(tree.children(id), depth + 1);
    }
  };
  visit(page === undefined ? tree.children(null) : [page], 0);
  return chosen;
};

const bytesOf = async (body: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Everything that a file is made of. @throws Problem invalid for more than a file may have */
export const gather = async (
  { reader, blobs }: Pick<PdfDeps, 'reader' | 'blobs'>,
  ticket: PdfTicket,
  createdAt: string,
  signal: AbortSignal,
): Promise<PdfRequest> => {
  const { spaceId, title, subtitle } = ticket;
  const tree = await reader.tree(spaceId, ticket.revisionId);
  const chosen = choosePages(tree, ticket);
  const pages: PdfPage[] = [];
  const wanted = new Set<string>();
  let characters = 0;
  for (let at = 0; at < chosen.length; at += batch) {
    signal.throwIfAborted();
    const some = chosen.slice(at, at + batch);
    const bodies = await reader.documents(
      spaceId,
      some.flatMap(({ id }) => tree.page(id)?.documentId ?? []),
    );
    for (const { id, depth } of some) {
      const { metadata, documentId } = tree.page(id) ?? { metadata: { title: '' } };
      const document = documentId === undefined ? undefined : bodies.get(documentId);
      if (document !== undefined) {
        characters += JSON.stringify(document).length;
        for (const { ref } of extractReferences(document)) if (ref.kind === 'file') wanted.add(ref.file);
      }
      if (characters > limits.pdf.characters * 4)
        throw invalid('pdf.too_large', 'This is too much for one PDF; ask for a part with `page`.');
      const { description } = metadata as { description?: string };
      pages.push({
        id,
        depth,
        title: metadata.title,
        ...(description === undefined ? {} : { description }),
        ...(document === undefined ? {} : { document }),
      });
    }
  }
  const images = new Map<string, Uint8Array>();
  const files = new Map<string, string>();
  let bytes = 0;
  for (const id of wanted) {
    signal.throwIfAborted();
    const file = tree.file(id);
    if (file === undefined) continue;
    files.set(id, file.name);
    const { width = 0, height = 0 } = file.dimensions ?? {};
    const fits = bytes + file.size <= limits.pdf.imageBytes && images.size < limits.pdf.images;
    if (!/^image\/(png|jpeg)$/.test(file.contentType) || !fits || width * height > maxPixels) continue;
    const blob = await blobs.get(file.sha256);
    if (blob === undefined) continue;
    bytes += file.size;
    images.set(id, await bytesOf(blob.body));
  }
  return { title, subtitle, pages, images, files, createdAt };
};
