import type { Connection } from './connection.ts';
import { type Layout, layoutOf } from './layout.ts';
import { writtenIndexes } from './registry.ts';

/** A process that writes notices within this time, in ms, that another release has added an index. */
export const NOTICED_WITHIN_MS = 2000;

/**
 * How documents are written while releases run side by side. A newer one may add an index; what an older one writes from then
 * on has to have its fields too, else the newer one would never find it. So whoever writes looks into the registry now and
 * then, and whoever adds an index waits until all others must have looked before it brings the documents up to date.
 */
export class LiveLayout {
  readonly #connection: Connection;
  readonly #generation: number;
  #current: Layout;
  #checkedAt = performance.now();
  #checking: Promise<void> | undefined;

  /** @param layout as it was read just now */
  constructor(connection: Connection, layout: Layout, generation: number) {
    this.#connection = connection;
    this.#current = layout;
    this.#generation = generation;
  }

  /** The layout as it was last known. */
  get current(): Layout {
    return this.#current;
  }

  /** The layout as it was at most {@link NOTICED_WITHIN_MS} ago. @throws ReadStoreUnavailable */
  async fresh(): Promise<Layout> {
    if (performance.now() - this.#checkedAt >= NOTICED_WITHIN_MS) {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined;
      });
      await this.#checking;
    }
    return this.#current;
  }

  async #check(): Promise<void> {
    const begun = performance.now();
    const { spec, name, written } = this.#current;
    const there = await writtenIndexes(this.#connection, name);
    if (there !== undefined && JSON.stringify(there) !== JSON.stringify(written))
      this.#current = layoutOf(spec, this.#generation, there);
    this.#checkedAt = begun;
  }
}
