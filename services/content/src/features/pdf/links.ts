import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { rawPrefix, rawRoutes } from '@bindery/contracts';

/** Where PDF files are served, below the public address of the instance. */
export const pdfPrefix = rawPrefix(rawRoutes.downloadPdf);

/** What an address stands for. */
export interface PdfTicket {
  readonly spaceId: string;
  readonly revisionId: string;
  /** Title of the file. */
  readonly title: string;
  readonly subtitle: string;
  readonly page?: string;
  readonly only?: true;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Makes and reads addresses of PDF files. */
export interface PdfLinks {
  address(baseUrl: string, ticket: PdfTicket): string;
  /** What a request target stands for, when it was made here; it may have ended. */
  read(target: string): PdfTicket | undefined;
}

const maxTarget = 4096;
const target = new RegExp(`^${pdfPrefix}/([A-Za-z0-9_-]+)\\.([A-Za-z0-9_-]{43})$`);

/** @param secret at least 16 bytes; another one ends all addresses */
export const createPdfLinks = (secret: string): PdfLinks => {
  if (Buffer.byteLength(secret) < 16) throw new Error('PDF links: the secret has less than 16 bytes');
  const key = Buffer.from(hkdfSync('sha256', secret, 'bindery', 'pdf-links', 32));
  const sign = (payload: string): Buffer => createHmac('sha256', key).update(payload).digest();
  return {
    address(baseUrl, ticket) {
      const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url');
      return `${baseUrl}${pdfPrefix}/${payload}.${sign(payload).toString('base64url')}`;
    },
    read(text) {
      const [, payload, mac] = text.length > maxTarget ? [] : (target.exec(text) ?? []);
      if (payload === undefined || mac === undefined) return undefined;
      const given = Buffer.from(mac, 'base64url');
      const right = sign(payload);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as PdfTicket;
    },
  };
};
