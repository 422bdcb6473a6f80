import { randomBytes } from 'node:crypto';
import type { BlobStore } from '@bindery/blob-store';

/** A page that was read, until everything is. */
export interface StagedPage {
  /** From the document around the text; pages in markdown say it themselves. */
  readonly title?: string;
  readonly description?: string;
  readonly markdown: string;
  /** It is a markdown file: with front matter, and the title as its heading. */
  readonly whole?: true;
  /** Addresses of the pictures on it. */
  readonly images: readonly string[];
  /** Anchors that links lead to it with, and those that the document has instead. */
  readonly anchors: Readonly<Record<string, string>>;
}

/** Where pages wait until everything is read. */
export interface Staging {
  put(page: StagedPage): Promise<string>;
  /** @throws Error when it is gone */
  get(blob: string): Promise<StagedPage>;
  delete(blob: string): Promise<void>;
}

/** Bytes in front, at random: nobody else's blob has the same name, so that it can be deleted without asking. */
const headBytes = 32;
const maxBytes = 64 * 1024 * 1024;

export const createStaging = (blobs: BlobStore): Staging => ({
  async put(page) {
    const bytes = Buffer.concat([randomBytes(headBytes), Buffer.from(JSON.stringify(page))]);
    return (await blobs.put(bytes, maxBytes)).sha256;
  },
  async get(blob) {
    const found = await blobs.get(blob);
    if (found === undefined) throw new Error('a page that was read is not there any more');
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.body) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).subarray(headBytes).toString('utf8'));
  },
  async delete(blob) {
    await blobs.delete(blob);
  },
});
