import { crc32 } from 'node:zlib';

/** An event in the head of a frame: id, type, revision, position, length of its message. */
export type FrameEvent = readonly [id: string, type: string, revision: number, position: number, length: number];

/** Events of one write to one stream; the unit that is on disk as a whole or not at all. */
export interface FramePart {
  readonly stream: string;
  readonly events: readonly FrameEvent[];
}

export interface Frame {
  readonly parts: readonly FramePart[];
  /** Messages of all events, one after the other, as they are sent to readers. */
  readonly messages: Buffer;
}

/** Starts the file, and keeps position 0 free. */
export const MAGIC = Buffer.from('bindery eventstoredb double log\n', 'latin1');

/** Bytes before the payload of a frame: its length and its checksum. */
const PREFIX = 8;

export const encodeFrame = ({ parts, messages }: Frame): Buffer => {
  const head = Buffer.from(JSON.stringify(parts), 'utf8');
  const frame = Buffer.allocUnsafe(PREFIX + 4 + head.length + messages.length);
  frame.writeUInt32LE(frame.length - PREFIX, 0);
  frame.writeUInt32LE(head.length, PREFIX);
  head.copy(frame, PREFIX + 4);
  messages.copy(frame, PREFIX + 4 + head.length);
  frame.writeUInt32LE(crc32(frame.subarray(PREFIX)), 4);
  return frame;
};

/** Where the messages of a frame begin, measured from its start. */
export const messagesAt = (frame: Buffer): number => PREFIX + 4 + frame.readUInt32LE(PREFIX);

/** The whole frame at an offset of the file's content, or nothing when it is cut off or damaged: a write that a crash interrupted. */
export const frameAt = (content: Buffer, offset: number): Buffer | undefined => {
  if (offset + PREFIX + 4 > content.length) return undefined;
  const end = offset + PREFIX + content.readUInt32LE(offset);
  if (end > content.length || end < offset + PREFIX + 4) return undefined;
  const frame = content.subarray(offset, end);
  return crc32(frame.subarray(PREFIX)) === frame.readUInt32LE(4) ? frame : undefined;
};

export const partsOf = (frame: Buffer): readonly FramePart[] =>
  JSON.parse(frame.toString('utf8', PREFIX + 4, messagesAt(frame))) as readonly FramePart[];
