import PDFDocument from 'pdfkit';
import { createFontChoice, type FontStyle, fontBytes, fontNames } from './fonts.ts';

/** A4 in points. */
export const size = { width: 595.28, height: 841.89 };
export const margin = 64;
const footer = 24;
export const colors = {
  text: '#1f2328',
  quiet: '#656d76',
  link: '#0b5cad',
  rule: '#d0d7de',
  panel: '#f3f4f6',
  info: '#0b5cad',
  success: '#1a7f37',
  warning: '#9a6700',
  danger: '#cf222e',
} as const;

/** Ends a link of the run before; an absent option would let it go on. The type declarations leave it out. */
const none = null as unknown as string;

/** How a piece of text looks and where it leads. */
export interface TextStyle {
  readonly font: FontStyle;
  readonly color?: string;
  readonly underline?: boolean;
  readonly strike?: boolean;
  /** An address, or the name of a place in the file after `#`. */
  readonly link?: string;
}
export interface Piece extends TextStyle {
  readonly text: string;
}

interface ParagraphOptions {
  readonly size?: number;
  readonly x?: number;
  readonly width?: number;
  readonly align?: 'left' | 'center' | 'right';
  /** Space below, in points. */
  readonly after?: number;
}

/** The file as it is written: text in runs of fonts, with pages that can be gone back to. */
export class Paper {
  readonly doc: PDFKit.PDFDocument;
  readonly choose = createFontChoice();
  /** Left edge and width of what is written next. */
  left = margin;
  right = size.width - margin;
  readonly #chunks: Buffer[] = [];

  constructor(info: { readonly title: string; readonly createdAt: string }) {
    const { width, height } = size;
    this.doc = new PDFDocument({
      size: [width, height],
      margins: { top: margin, left: margin, right: margin, bottom: margin + footer },
      bufferPages: true,
      autoFirstPage: true,
      info: { Title: info.title, Producer: 'Bindery', Creator: 'Bindery', CreationDate: new Date(info.createdAt) },
      lang: 'und',
      // A font that the constructor would read from its own files is not needed.
      font: fontBytes('regular') as unknown as string,
    });
    for (const name of fontNames) this.doc.registerFont(name, fontBytes(name));
    this.doc.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
  }

  get width(): number {
    return this.right - this.left;
  }
  get bottom(): number {
    return size.height - margin - footer;
  }
  get pageCount(): number {
    return this.doc.bufferedPageRange().count;
  }

  /** Begins a new page when less than `height` points are left. */
  need(height: number): void {
    if (this.doc.y + height > this.bottom && this.doc.y > margin) this.newPage();
  }
  newPage(): void {
    this.doc.addPage();
  }
  space(points: number): void {
    this.doc.y = Math.min(this.bottom, this.doc.y + points);
  }

  /** Writes one paragraph. */
  paragraph(pieces: readonly Piece[], options: ParagraphOptions = {}): void {
    const { size: points = 10.5, x = this.left, width = this.width, align = 'left', after = 6 } = options;
    const { doc } = this;
    const runs = pieces.flatMap((piece) =>
      this.choose(piece.text, piece.font).map((run) => ({ ...piece, font: run.font, text: run.text })),
    );
    if (runs.length === 0) return;
    doc.fontSize(points);
    doc.x = x;
    for (const [index, run] of runs.entries()) {
      const { link } = run;
      doc
        .font(run.font)
        .fillColor(run.color ?? (link === undefined ? colors.text : colors.link))
        .text(run.text, {
          continued: index < runs.length - 1,
          width,
          align,
          lineGap: 2,
          underline: run.underline === true,
          strike: run.strike === true,
          link: link !== undefined && !link.startsWith('#') ? link : none,
          goTo: link?.startsWith('#') ? link.slice(1) : none,
        });
    }
    doc.x = this.left;
    this.space(after);
  }

  /** Height of text as `paragraph` writes it, about. */
  heightOf(text: string, points: number, width: number, style: FontStyle = 'regular'): number {
    const [first] = this.choose(text, style);
    return this.doc
      .font(first?.font ?? 'regular')
      .fontSize(points)
      .heightOfString(text === '' ? ' ' : text, { width, lineGap: 2 });
  }

  /** Writes something moved in from the left, with a bar beside it, across pages. */
  beside(color: string, indent: number, write: () => void): void {
    const { doc } = this;
    this.need(40);
    const from = { page: this.pageCount - 1, y: doc.y };
    this.left += indent;
    doc.x = this.left;
    write();
    this.left -= indent;
    const to = { page: this.pageCount - 1, y: doc.y - 4, x: this.left };
    for (let page = from.page; page <= to.page; page += 1) {
      doc.switchToPage(page);
      const top = page === from.page ? from.y : margin;
      const end = page === to.page ? to.y : this.bottom;
      if (end > top)
        doc
          .save()
          .rect(this.left + 2, top, 2.5, end - top)
          .fill(color)
          .restore();
    }
    doc.switchToPage(to.page);
    doc.x = this.left;
    doc.y = to.y + 6;
  }

  end(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.doc.once('end', () => resolve(Buffer.concat(this.#chunks)));
      this.doc.once('error', reject);
      this.doc.end();
    });
  }
}
