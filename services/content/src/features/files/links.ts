import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type RevisionFile, rawPrefix, rawRoutes } from '@bindery/contracts';
import type { FileNode } from '../revisions/index.ts';

/** Where file bytes are served, below the public address of the instance. */
export const filesPrefix = rawPrefix(rawRoutes.downloadFile);

/** What a download address says, once its signature was found good. */
export interface FileTicket {
  readonly spaceId: string;
  readonly fileId: string;
  readonly name: string;
  readonly sha256: string;
  readonly contentType: string;
}

/** Makes and reads download addresses. */
export interface FileLinks {
  /** A file as clients see it (resources section 25). */
  represent(baseUrl: string, spaceId: string, file: FileNode): RevisionFile;
  /**
   * Reads a request target, `/~files/...?token=...`.
   * @returns undefined when it was not made here
   */
  read(target: string): FileTicket | undefined;
}

const macBytes = 16;
const shaBytes = 32;
/** Longest target that is looked at. */
const maxTarget = 4096;

/**
 * Download addresses name the bytes and are signed (HMAC-SHA-256, 128 bits), so that they cannot be guessed and need no
 * look-up. They carry no time: a file has one address for as long as its content stays, in every replica and after every
 * rebuild; deleting the space ends them (the route checks). `token` = base64url(sha256 + mac) + `.` + base64url(type).
 * @param secret at least 16 bytes; another one ends all addresses
 */
export const createFileLinks = (secret: string): FileLinks => {
  if (Buffer.byteLength(secret) < 16) throw new Error('file links: the secret has less than 16 bytes');
  const key = Buffer.from(hkdfSync('sha256', secret, 'bindery', 'file-links', 32));
  const sign = (ticket: FileTicket): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([ticket.spaceId, ticket.fileId, ticket.name, ticket.sha256, ticket.contentType]))
      .digest()
      .subarray(0, macBytes);

  return {
    represent(baseUrl, spaceId, file) {
      const { id, name, contentType, size, sha256, dimensions } = file;
      const mac = sign({ spaceId, fileId: id, name, sha256, contentType });
      const proof = Buffer.concat([Buffer.from(sha256, 'hex'), mac]).toString('base64url');
      const token = `${proof}.${Buffer.from(contentType).toString('base64url')}`;
      const downloadURL = `${baseUrl}${filesPrefix}/${spaceId}/${id}/${encodeURIComponent(name)}?token=${token}`;
      return { id, name, contentType, downloadURL, size, ...(dimensions ? { dimensions: { ...dimensions } } : {}) };
    },
    read(target) {
      if (target.length > maxTarget) return undefined;
      const match =
        /^\/~files\/([A-Za-z0-9_-]+)\/([A-Za-z0-9_-]+)\/([^/?#]+)\?token=([A-Za-z0-9_-]{64})\.([A-Za-z0-9_-]+)$/.exec(
          target,
        );
      const [, spaceId, fileId, encodedName, proof, type] = match ?? [];
      if (!spaceId || !fileId || !encodedName || !proof || !type) return undefined;
      const name = decoded(encodedName);
      if (name === undefined) return undefined;
      const bytes = Buffer.from(proof, 'base64url');
      if (bytes.length !== shaBytes + macBytes) return undefined;
      const sha256 = bytes.subarray(0, shaBytes).toString('hex');
      const ticket = { spaceId, fileId, name, sha256, contentType: Buffer.from(type, 'base64url').toString('utf8') };
      return timingSafeEqual(bytes.subarray(shaBytes), sign(ticket)) ? ticket : undefined;
    },
  };
};

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not something that `represent` made.
    return undefined;
  }
};
