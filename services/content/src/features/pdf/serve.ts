import { rawRoutes } from '@bindery/contracts';
import { createPdfWriter, PdfFailed } from '@bindery/pdf';
import { isProblem } from '@bindery/service-kit';
import type { RawRoute } from '../files/index.ts';
import type { PdfDeps } from './deps.ts';
import { gather } from './gather.ts';
import type { PdfLinks, PdfTicket } from './links.ts';

/** Bytes of finished files in memory. */
const maxKept = 64_000_000;
/** For one file, in ms, waiting included. */
const timeoutMs = 120_000;

/** Files made of a revision say the same for ever: made once, they are kept as long as there is room. */
const createShelf = () => {
  const kept = new Map<string, Uint8Array>();
  const making = new Map<string, Promise<Uint8Array>>();
  let total = 0;
  return async (key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const found = kept.get(key);
    if (found !== undefined) return found;
    const begun = making.get(key);
    if (begun !== undefined) return begun;
    const made = make().finally(() => making.delete(key));
    making.set(key, made);
    const bytes = await made;
    kept.set(key, bytes);
    total += bytes.length;
    for (const [oldest, old] of kept) {
      if (total <= maxKept) break;
      kept.delete(oldest);
      total -= old.length;
    }
    return bytes;
  };
};

/** GET of a PDF file: made when it is first asked for. The address is the authority, for as long as it says. */
export const createPdfRoute = (deps: PdfDeps, links: PdfLinks): RawRoute => {
  const { clock, logger, spaceExists } = deps;
  const writer = deps.writer ?? createPdfWriter();
  const shelf = createShelf();

  const make = async (ticket: PdfTicket): Promise<Uint8Array> => {
    const signal = AbortSignal.timeout(timeoutMs);
    return writer.write(await gather(deps, ticket, clock.now().toISOString(), signal), signal);
  };

  return {
    method: 'GET',
    path: rawRoutes.downloadPdf.path,
    async handle(request, response) {
      const refuse = (status: number, message: string, headers = {}): void => {
        response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
        response.end(JSON.stringify({ error: { code: status, message } }));
      };
      const ticket = links.read(request.url ?? '');
      if (ticket === undefined || ticket.until <= clock.now().getTime() || !(await spaceExists(ticket.spaceId)))
        return refuse(404, 'There is no such file, or its address has ended; ask for another one.');
      const { until: _until, ...content } = ticket;
      let bytes: Uint8Array;
      try {
        bytes = await shelf(JSON.stringify(content), () => make(ticket));
      } catch (error) {
        if (isProblem(error) && error.kind === 'invalid') return refuse(400, error.message);
        const reason = error instanceof PdfFailed ? error.reason : undefined;
        logger.warn('a PDF file could not be made', { revisionId: ticket.revisionId, reason: String(error) });
        if (reason === 'busy') return refuse(503, 'Too many files are being made.', { 'retry-after': '10' });
        return refuse(503, 'The file could not be made; ask for a part of it.', { 'retry-after': '60' });
      }
      const name = encodeURIComponent(`${ticket.title}.pdf`).replace(/['()*]/g, '_');
      response.writeHead(200, {
        'content-type': 'application/pdf',
        'content-length': bytes.length,
        'content-disposition': `inline; filename="content.pdf"; filename*=UTF-8''${name}`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, max-age=3600',
      });
      response.end(request.method === 'HEAD' ? undefined : bytes);
    },
  };
};
