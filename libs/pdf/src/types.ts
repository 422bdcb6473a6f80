import type { JSONDocument } from '@bindery/contracts/document';

/** One page of content. */
export interface PdfPage {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  /** 0 at the top. */
  readonly depth: number;
  /** Absent: a title alone. */
  readonly document?: JSONDocument;
}

/** What a PDF file is made of. Plain data: it travels to a thread. */
export interface PdfRequest {
  readonly title: string;
  /** A line below the title. */
  readonly subtitle?: string;
  /** In reading order. */
  readonly pages: readonly PdfPage[];
  /** PNG and JPEG pictures by file id. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  /** Names of files by id, for those that are not shown. */
  readonly files: ReadonlyMap<string, string>;
  /** ISO time that the file says it was made. */
  readonly createdAt: string;
}
