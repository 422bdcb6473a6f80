import type { FrameEvent } from './frames.ts';
import { LogFile, type StoredFrame } from './log-file.ts';
import { dataOfMessage, eventMessage, type ProposedEvent, STREAM_DELETED } from './messages.ts';
import type { AppendOutcome, Expectation } from './outcomes.ts';
import { type LogEntry, Streams } from './streams.ts';

export type { LogEntry } from './streams.ts';

export interface LogOptions {
  /** Made when absent. */
  readonly directory: string;
  /** Whether a write is synced to disk before it is answered. Default true. */
  readonly sync?: boolean;
  /** After so many writes the server writes an event of its own, as a real one does every few seconds. 0 for never. Default 10. */
  readonly noiseEvery?: number;
}

interface Job {
  readonly stream: string;
  readonly events: readonly ProposedEvent[];
  readonly expected: Expectation;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const BATCH = 256;
/** Messages of the newest events that are kept in memory, in bytes; older ones are read from the file. */
const RECENT_BYTES = 64 * 1024 * 1024;
/** Positions of the events of one frame are so far apart; every message is longer. */
const STEP = 64;

const json = (value: unknown): Uint8Array => new Uint8Array(Buffer.from(JSON.stringify(value), 'utf8'));

const systemEvent = (type: string, data: unknown): ProposedEvent => ({
  id: crypto.randomUUID(),
  type,
  contentType: 'application/json',
  data: data === undefined ? new Uint8Array() : json(data),
  metadata: new Uint8Array(),
});

/** The log of a double: one file, streams and $all over it, writes that share a sync. */
export class EventLog {
  /** All events that are on disk, in their order. */
  readonly entries: LogEntry[] = [];
  readonly streams = new Streams();
  readonly #file: LogFile;
  readonly #noiseEvery: number;
  readonly #waiting = new Set<() => void>();
  #queue: Job[] = [];
  #running = false;
  #closed = false;
  #writes = 0;
  #recent: LogEntry[] = [];
  #recentBytes = 0;

  private constructor(file: LogFile, noiseEvery: number) {
    this.#file = file;
    this.#noiseEvery = noiseEvery;
  }

  static async open({ directory, sync = true, noiseEvery = 10 }: LogOptions): Promise<EventLog> {
    const { file, frames } = await LogFile.open(directory, sync);
    const log = new EventLog(file, noiseEvery);
    for (const frame of frames) log.#publish(log.#index(frame, undefined));
    return log;
  }

  append(stream: string, events: readonly ProposedEvent[], expected: Expectation): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      // A call that took its time until the server had stopped: of a crash nothing is left that could write.
      if (this.#closed) return reject(new Error('the log is closed'));
      this.#queue.push({ stream, events, expected, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      setImmediate(() => void this.#work());
    });
  }

  /** Hides the events of a stream (soft), or ends it for ever. */
  delete(stream: string, kind: 'soft' | 'tombstone'): Promise<AppendOutcome> {
    return kind === 'soft'
      ? this.append(`$$${stream}`, [systemEvent('$metadata', { $tb: Number.MAX_SAFE_INTEGER })], 'any')
      : this.append(stream, [systemEvent(STREAM_DELETED, undefined)], 'any');
  }

  /** The message of an event as it is sent to readers. */
  messageOf(entry: LogEntry): Buffer {
    return entry.message ?? this.#file.read(entry.at, entry.length);
  }

  /** Calls once there are more events than before; returns how to take it back. */
  onPublished(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Waits for the writes under way; there are no others. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running) await new Promise((resolve) => setImmediate(resolve));
    await this.#file.close();
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH);
      const frames: Buffer[] = [];
      const entries: LogEntry[] = [];
      const outcomes = batch.map((job) => this.#decide(job, frames, entries));
      try {
        if (frames.length > 0) await this.#file.write(frames);
      } catch (error) {
        for (const job of batch) job.reject(error);
        throw error; // the index is ahead of the file: nothing can be trusted any more
      }
      this.#publish(entries);
      for (const [index, job] of batch.entries()) job.resolve(outcomes[index] ?? { kind: 'tombstoned' });
    }
    this.#running = false;
  }

  #decide({ stream, events, expected }: Job, frames: Buffer[], entries: LogEntry[]): AppendOutcome {
    const outcome = this.streams.check(stream, events, expected);
    if (outcome.kind !== 'write') return outcome;
    const parts = [{ stream, events }];
    if (outcome.truncateBefore !== undefined) {
      parts.push({ stream: `$$${stream}`, events: [systemEvent('$metadata', { $tb: outcome.truncateBefore })] });
    }
    this.#writes += 1;
    if (this.#noiseEvery > 0 && this.#writes % this.#noiseEvery === 0) {
      parts.push({
        stream: '$stats-127.0.0.1:2113',
        events: [systemEvent('$statsCollected', { writes: this.#writes })],
      });
    }
    const start = this.#file.end;
    const messages: Buffer[] = [];
    const framed = parts.map((part) => {
      const first = this.streams.next(part.stream);
      const heads = part.events.map((event, index): FrameEvent => {
        const position = start + STEP * messages.length;
        const message = eventMessage(event, part.stream, first + index, position);
        messages.push(message);
        return [event.id, event.type, first + index, position, message.length];
      });
      return { stream: part.stream, events: heads };
    });
    const { bytes, messagesAt, end } = this.#file.prepare({ parts: framed, messages: Buffer.concat(messages) });
    frames.push(bytes);
    const written = this.#index({ parts: framed, messagesAt, end }, messages);
    entries.push(...written);
    const last = written[events.length - 1];
    return { kind: 'appended', revision: last?.revision ?? 0, position: last?.position ?? 0 };
  }

  /** Makes a frame known to writers; readers see it once it is published. */
  #index({ parts, messagesAt, end }: StoredFrame, messages: readonly Buffer[] | undefined): LogEntry[] {
    const entries: LogEntry[] = [];
    const positions = [...parts.flatMap(({ events }) => events.map(([, , , position]) => position)), end];
    let at = messagesAt;
    for (const { stream, events } of parts) {
      for (const [id, type, revision, position, length] of events) {
        const message = messages?.[entries.length];
        const next = positions[entries.length + 1] ?? end;
        const entry: LogEntry = { id, type, stream, revision, position, end: next, at, length, message };
        entries.push(entry);
        at += length;
        this.streams.add(entry, () => dataOfMessage(this.messageOf(entry)));
      }
    }
    return entries;
  }

  #publish(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      if (entry.message === undefined) continue;
      this.#recent.push(entry);
      this.#recentBytes += entry.length;
    }
    let dropped = 0;
    for (; this.#recentBytes > RECENT_BYTES; dropped += 1) {
      const oldest = this.#recent[dropped];
      if (oldest === undefined) break;
      oldest.message = undefined;
      this.#recentBytes -= oldest.length;
    }
    if (dropped > 0) this.#recent = this.#recent.slice(dropped);
    const last = entries.at(-1);
    if (last === undefined) return;
    this.streams.published = last.position;
    for (const listener of [...this.#waiting]) listener();
  }
}
