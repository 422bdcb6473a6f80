export type { PdfPage, PdfRequest } from './types.ts';
export { createPdfWriter, PdfFailed, type PdfWriter, type PdfWriterOptions } from './writer.ts';
