import type { ContentRef } from '@bindery/contracts/document';
import { writeBlocks } from './blocks.ts';
import { colors, margin, Paper, type Piece, size } from './paper.ts';
import type { PdfRequest } from './types.ts';

const tocLine = 18;
const tocTop = 60;

const safeLink = /^(https?:\/\/|mailto:)/i;

/** Writes content as a PDF file: a title, a table of contents with page numbers, the pages, numbers at their feet. */
export const renderPdf = async (request: PdfRequest): Promise<Uint8Array> => {
  const { title, subtitle, pages, images, files } = request;
  const paper = new Paper(request);
  const { doc } = paper;
  const titles = new Map(pages.map((page) => [page.id, page.title]));
  const withContents = pages.length > 1;

  paper.space(withContents ? 180 : 0);
  paper.paragraph([{ text: title, font: 'bold' }], { size: withContents ? 28 : 20, after: 8 });
  if (subtitle !== undefined) paper.paragraph([{ text: subtitle, font: 'regular', color: colors.quiet }], { size: 12 });

  const perPage = Math.floor((paper.bottom - margin - tocTop) / tocLine);
  const contentsAt = paper.pageCount;
  if (withContents) for (let made = 0; made < pages.length; made += perPage) paper.newPage();

  const numbers: number[] = [];
  for (const page of pages) {
    if (withContents) paper.newPage();
    numbers.push(paper.pageCount);
    doc.addNamedDestination(page.id);
    doc.outline.addItem(page.title);
    if (withContents) paper.paragraph([{ text: page.title, font: 'bold' }], { size: 20, after: 6 });
    if (page.description !== undefined && page.description !== '')
      paper.paragraph([{ text: page.description, font: 'regular', color: colors.quiet }], { size: 11.5, after: 10 });
    const linkTo = (ref: ContentRef): { link?: string; title?: string } => {
      switch (ref.kind) {
        case 'url':
          return safeLink.test(ref.url) ? { link: ref.url } : { title: ref.url };
        case 'page': {
          const known = titles.get(ref.page);
          return known === undefined ? {} : { link: `#${ref.page}`, title: known };
        }
        case 'anchor': {
          const at = ref.page ?? page.id;
          return titles.has(at) ? { link: `#${at}/${ref.anchor}`, title: ref.anchor } : {};
        }
        case 'file': {
          const name = files.get(ref.file);
          return name === undefined ? {} : { title: name };
        }
        default:
          return {};
      }
    };
    const named = new Set<string>();
    const scope = {
      paper,
      linkTo,
      image: (id: string) => images.get(id),
      fileName: (id: string) => files.get(id),
      anchor(name: string) {
        if (named.has(name)) return;
        named.add(name);
        doc.addNamedDestination(`${page.id}/${name}`, 'XYZ', null, doc.y, null);
      },
    };
    if (page.document !== undefined) writeBlocks(page.document.nodes, scope);
  }

  if (withContents) writeContents(paper, request, contentsAt, perPage, numbers);
  writeFeet(paper, title);
  return paper.end();
};

const writeContents = (
  paper: Paper,
  { pages }: PdfRequest,
  firstPage: number,
  perPage: number,
  numbers: readonly number[],
): void => {
  const { doc } = paper;
  for (const [index, page] of pages.entries()) {
    const at = index % perPage;
    if (at === 0) {
      doc.switchToPage(firstPage + Math.floor(index / perPage));
      doc.y = margin;
      if (index === 0) paper.paragraph([{ text: 'Contents', font: 'bold' }], { size: 18 });
    }
    const y = margin + tocTop + at * tocLine;
    const x = margin + Math.min(page.depth, 8) * 14;
    const width = size.width - margin - 40 - x;
    const label = shortened(paper, page.title, width);
    doc.y = y;
    paper.paragraph([{ ...label, link: `#${page.id}`, color: colors.text }], { x, width: width + 20, after: 0 });
    doc.y = y;
    const number: Piece = { text: String(numbers[index] ?? ''), font: 'regular', color: colors.quiet };
    paper.paragraph([number], { x: size.width - margin - 40, width: 40, align: 'right', after: 0 });
  }
};

/** A title on one line. */
const shortened = (paper: Paper, text: string, width: number): Piece => {
  const fits = (candidate: string): boolean => paper.heightOf(candidate, 10.5, width) < 20;
  if (fits(text)) return { text, font: 'regular' };
  const letters = [...text];
  let end = letters.length;
  while (end > 1 && !fits(`${letters.slice(0, end).join('')}…`)) end = Math.floor(end * 0.9);
  return { text: `${letters.slice(0, end).join('')}...`, font: 'regular' };
};

const writeFeet = (paper: Paper, title: string): void => {
  const { doc } = paper;
  const { count } = doc.bufferedPageRange();
  for (let at = 0; at < count; at += 1) {
    doc.switchToPage(at);
    // Below the margin, where text would begin a page.
    doc.page.margins.bottom = 0;
    doc.y = size.height - margin;
    const width = size.width - 2 * margin - 60;
    paper.paragraph([{ ...shortened(paper, title, width), color: colors.quiet }], {
      size: 8,
      x: margin,
      width,
      after: 0,
    });
    doc.y = size.height - margin;
    const number: Piece = { text: `${at + 1} / ${count}`, font: 'regular', color: colors.quiet };
    paper.paragraph([number], { size: 8, x: size.width - margin - 60, width: 60, align: 'right', after: 0 });
  }
};
