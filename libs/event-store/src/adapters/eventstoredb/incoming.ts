import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';

/** What waiting for a message came to. */
export type Waited = 'more' | 'ended' | 'late' | 'aborted';

/**
 * The messages of one read or subscription, taken one by one. Nothing is taken ahead of the consumer but the few
 * messages that the library buffers: the server waits by HTTP/2 flow control.
 */
export class Incoming {
  readonly #stream: ClientReadableStream<streams.ReadResp>;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #over: (() => void) | undefined;

  /**
   * @param stream a call that was started in this very turn, so that no error of it can have been missed (PITFALLS 3)
   * @param over told once, when the server has no more to do with the call: it failed, ended or was closed
   */
  constructor(stream: ClientReadableStream<streams.ReadResp>, over: () => void) {
    this.#stream = stream;
    this.#over = over;
    stream
      .on('error', (error: Error) => {
        this.#error = error;
        this.#isOver();
        this.#wake?.();
      })
      .on('end', () => {
        this.#ended = true;
        this.#isOver();
        this.#wake?.();
      })
      .on('readable', () => {
        if (!this.waiting) stream.read(0); // an end is told to those who try to read on
        this.#wake?.();
      });
  }

  /** The next message, if it is here. */
  take(): streams.ReadResp | undefined {
    return (this.#stream.read() as streams.ReadResp | null) ?? undefined;
  }

  get waiting(): boolean {
    return this.#stream.readableLength > 0;
  }

  /** Waits for a message. @throws the error of the call */
  wait(ms: number, signal: AbortSignal): Promise<Waited> {
    return new Promise((resolve, reject) => {
      const finish = (late: boolean): boolean => {
        if (this.waiting) resolve('more');
        else if (this.#error !== undefined) reject(this.#error);
        else if (this.#ended) resolve('ended');
        else if (signal.aborted) resolve('aborted');
        else if (late) resolve('late');
        else return false;
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        return true;
      };
      const wake = (): void => void finish(false);
      const timer = setTimeout(finish, ms, true);
      if (finish(false)) return;
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Ends the call on the server too (PITFALLS 4). */
  close(): void {
    // In a later turn: a call that is cancelled in the turn in which it was made may never be sent, and then never ends.
    setImmediate(() => {
      this.#stream.cancel();
      // The library never closes a cancelled stream that has messages which nobody took, and keeps it.
      this.#stream.destroy();
      this.#isOver();
    });
  }

  #isOver(): void {
    const over = this.#over;
    this.#over = undefined;
    over?.();
  }
}
