import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BlobStore } from '@bindery/blob-store';
import { rawRoutes } from '@bindery/contracts';
import type { Logger } from '@bindery/telemetry';
import type { FileLinks, FileTicket } from './links.ts';

/** A route outside the JSON contract, which the gateway mounts as it is. */
export interface RawRoute {
  readonly method: 'GET';
  /** With `{name}` parameters, as the gateway mounts it. HEAD comes with GET. */
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface FileDownloadDeps {
  readonly links: FileLinks;
  readonly blobs: BlobStore;
  /** Whether the space is there and not deleted. */
  readonly spaceExists: (spaceId: string) => Promise<boolean>;
  readonly logger: Logger;
}

/** Shown by browsers in place; everything else is a download. */
const shownInPlace = /^(image\/(?!svg)|video\/|audio\/|text\/plain$|font\/)/;
const errorBody = (code: number, message: string): string => JSON.stringify({ error: { code, message } });

/** One range of bytes (`bytes=a-b`, `a-`, `-n`); anything else is ignored, as RFC 9110 allows. */
const rangeOf = (header: string | undefined, size: number): { start: number; end: number } | 'beyond' | undefined => {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') return Number(last) === 0 ? 'beyond' : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  if (start >= size) return 'beyond';
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return end < start ? undefined : { start, end };
};

const headersFor = (ticket: FileTicket): Readonly<Record<string, string>> => {
  const inPlace = shownInPlace.test(ticket.contentType);
  const plainName = ticket.name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const type = ticket.contentType.startsWith('text/') ? `${ticket.contentType}; charset=utf-8` : ticket.contentType;
  return {
    'content-type': type,
    'content-disposition': `${inPlace ? 'inline' : 'attachment'}; filename="${plainName}"; filename*=UTF-8''${encodeURIComponent(ticket.name).replace(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, max-age=31536000, immutable',
    'accept-ranges': 'bytes',
    etag: `"${ticket.sha256}"`,
  };
};

/**
 * Serves file bytes. The address is the authority: it is signed, and `img` tags cannot send a token. Nothing served here
 * runs: no sniffing, a sandbox without scripts, and documents that could (HTML, SVG) are downloads (PITFALLS: Security).
 */
export const createFileDownloads = ({ links, blobs, spaceExists, logger }: FileDownloadDeps): RawRoute => {
  const refuse = (response: ServerResponse, status: number, message: string, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
    response.end(errorBody(status, message));
  };

  return {
    method: 'GET',
    path: rawRoutes.downloadFile.path,
    async handle(request, response) {
      const ticket = links.read(request.url ?? '');
      const found = ticket && (await spaceExists(ticket.spaceId)) ? await blobs.stat(ticket.sha256) : undefined;
      if (!ticket || !found) return refuse(response, 404, 'No such file.');
      const headers = headersFor(ticket);
      if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(headers.etag ?? '')) {
        response.writeHead(304, headers).end();
        return;
      }
      const ifRange = request.headers['if-range'];
      const wanted = ifRange === undefined || ifRange === headers.etag ? request.headers.range : undefined;
      const range = rangeOf(wanted, found.size);
      if (range === 'beyond')
        return refuse(response, 416, 'No such range.', { 'content-range': `bytes */${found.size}` });
      const length = range ? range.end - range.start + 1 : found.size;
      response.writeHead(range ? 206 : 200, {
        ...headers,
        'content-length': length,
        ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${found.size}` } : {}),
      });
      if (request.method === 'HEAD') {
        response.end();
        return;
      }
      const blob = await blobs.get(ticket.sha256, range);
      if (!blob) {
        response.destroy();
        return;
      }
      try {
        await pipeline(Readable.from(blob.body), response);
      } catch (error) {
        // The client went away, or the store broke off after the head was sent: the connection is gone either way.
        logger.debug('a file download broke off', { fileId: ticket.fileId, error: String(error) });
      }
    },
  };
};
