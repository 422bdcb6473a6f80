import { Lru } from '../shared/lru.ts';
import type { KnownDocuments } from './folding.ts';

interface Kept {
  /** Revision of the stream that the documents belong to. */
  readonly at: number;
  readonly documents: KnownDocuments;
}

const STREAMS = 1000;
/** Characters of the documents of a stream that are kept, about; larger ones are read each time. */
const MOST = 16_384;

/** What a document takes up beyond `room`, roughly, in characters: negative where it has room. Looks no further than needed. */
const beyond = (room: number, value: unknown): number => {
  if (typeof value === 'string') return value.length - room;
  if (typeof value !== 'object' || value === null) return 8 - room;
  let left = room - 16;
  for (const [key, part] of Object.entries(value)) {
    left = -beyond(left - key.length, part);
    if (left < 0) break;
  }
  return -left;
};

/**
 * Documents of one inline projection that commands of this process have just written, by stream. A document belongs to one
 * stream and is nothing but a fold of its events, so the one at a revision is what the event after it is applied to,
 * whatever others have written since: their writes and ours are guarded by the revision.
 */
export class KeptDocuments {
  readonly #streams = new Lru<Kept>(STREAMS);

  /** The documents of a stream as they are before its event of this revision, if they are at hand. */
  before(stream: string, revision: number): KnownDocuments | undefined {
    const kept = this.#streams.get(stream);
    return kept?.at === revision - 1 ? kept.documents : undefined;
  }

  /**
   * Notes what has been written.
   * @param known documents that were read or known, as they are after the event of revision `at`
   */
  keep(stream: string, at: number, known: KnownDocuments): void {
    if ((this.#streams.peek(stream)?.at ?? -1) >= at) return;
    const ofThen = [...known].filter(([, { revision }]) => revision <= at); // others may have been ahead
    let room = MOST;
    for (const [, { document }] of ofThen) room = -beyond(room, document);
    if (room < 0) {
      this.#streams.delete(stream);
      return;
    }
    this.#streams.set(stream, { at, documents: new Map(ofThen) });
  }

  clear(): void {
    this.#streams.clear();
  }
}
