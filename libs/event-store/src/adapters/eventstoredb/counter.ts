import type { Position } from '../../port.ts';
import { Joined } from './bounded.ts';
import { filterOf } from './filters.ts';
import type { Reader } from './reader.ts';

/**
 * Number of events. The server keeps no such figure, so they are counted as they pass: the first time the whole log is
 * read (in constant memory), later only what is new.
 */
export class Counter {
  readonly #answer: Joined<number>;
  #count = 0;
  #position: Position = 0;

  constructor(reader: Reader, closed: AbortSignal) {
    const all = filterOf(undefined);
    this.#answer = new Joined(async () => {
      for await (const { event } of reader.log(this.#position, all, Number.MAX_SAFE_INTEGER, closed)) {
        this.#count += 1;
        this.#position = event.position;
      }
      return this.#count;
    });
  }

  count(): Promise<number> {
    return this.#answer.answer();
  }
}
