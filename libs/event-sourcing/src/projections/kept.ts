import { Lru } from '../shared/lru.ts';
import type { KnownDocuments } from './folding.ts';

interface Kept {
  /** Revision of the stream that the documents belong to. */
  readonly at: number;
  readonly documents: KnownDocuments;
}

const STREAMS = 1000;

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
    this.#streams.set(stream, { at, documents: new Map(ofThen) });
  }

  clear(): void {
    this.#streams.clear();
  }
}
