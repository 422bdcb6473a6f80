import { mkdirSync, readSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeFrame, type Frame, type FramePart, frameAt, MAGIC, messagesAt, partsOf } from './frames.ts';

/** A frame that was found or written, and where its messages are in the file. */
export interface StoredFrame {
  readonly parts: readonly FramePart[];
  readonly messagesAt: number;
  /** Where the next frame begins. */
  readonly end: number;
}

/** The append-only file of a double: whole frames, synced before they count, cut back to the last whole one after a crash. */
export class LogFile {
  readonly #handle: FileHandle;
  readonly #sync: boolean;
  #end: number;

  private constructor(handle: FileHandle, end: number, sync: boolean) {
    this.#handle = handle;
    this.#end = end;
    this.#sync = sync;
  }

  /** Opens or makes the log of a directory and gives what is in it. */
  static async open(directory: string, sync: boolean): Promise<{ file: LogFile; frames: StoredFrame[] }> {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, 'log');
    const handle = await open(path, 'a+').then(async (made) => {
      await made.close();
      return open(path, 'r+');
    });
    const content = await readFile(path);
    const frames: StoredFrame[] = [];
    let end = MAGIC.length;
    if (content.subarray(0, MAGIC.length).equals(MAGIC)) {
      for (let frame = frameAt(content, end); frame !== undefined; frame = frameAt(content, end)) {
        const at = end + messagesAt(frame);
        end += frame.length;
        frames.push({ parts: partsOf(frame), messagesAt: at, end });
      }
    } else if (content.length >= MAGIC.length) throw new Error(`${path} is no log of this double`);
    else await handle.write(MAGIC, 0, MAGIC.length, 0);
    await handle.truncate(end);
    return { file: new LogFile(handle, end, sync), frames };
  }

  /** Offset of the next frame. */
  get end(): number {
    return this.#end;
  }

  /** Encodes a frame for the end of the file; it is on disk once `write` has been given its bytes. */
  prepare(frame: Frame): { readonly bytes: Buffer; readonly messagesAt: number; readonly end: number } {
    const bytes = encodeFrame(frame);
    const at = this.#end + messagesAt(bytes);
    this.#end += bytes.length;
    return { bytes, messagesAt: at, end: this.#end };
  }

  /** Writes the bytes of prepared frames, in their order, with one sync for all. */
  async write(frames: readonly Buffer[]): Promise<void> {
    const bytes = frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
    await this.#handle.write(bytes, 0, bytes.length, this.#end - bytes.length);
    if (this.#sync) await this.#handle.datasync();
  }

  read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    readSync(this.#handle.fd, bytes, 0, length, at);
    return bytes;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
