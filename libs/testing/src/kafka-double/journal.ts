import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One file of entries, each after its length. An entry is in the kernel before `append` returns, so it outlives the
 * process (not the machine); the torn end that a kill can leave is cut off when it is opened.
 */
export class Journal {
  readonly #file: number;

  constructor(directory: string, replay: (entry: Buffer) => void) {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, 'journal');
    this.#file = openSync(path, 'a+');
    const content = readFileSync(path);
    let at = 0;
    while (at + 4 <= content.length) {
      const end = at + 4 + content.readUInt32BE(at);
      if (end > content.length) break;
      replay(content.subarray(at + 4, end));
      at = end;
    }
    if (at < content.length) ftruncateSync(this.#file, at);
  }

  append(entry: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(entry.length);
    const bytes = Buffer.concat([length, entry]);
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#file, bytes, written);
  }

  close(): void {
    closeSync(this.#file);
  }
}
