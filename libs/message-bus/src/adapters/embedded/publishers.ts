import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareQuery, type Query } from '@bindery/event-store/sqlite-kit';
import { PublisherFenced } from '../../port.ts';

/** Who may publish under an id. Every method is called inside the shared transaction. */
export class Publishers {
  readonly #epoch: Query<[number]>;
  readonly #open: StatementSync;

  constructor(db: DatabaseSync) {
    this.#epoch = prepareQuery(db, 'SELECT epoch FROM publishers WHERE id = ?');
    this.#open = db.prepare(
      'INSERT INTO publishers (id, epoch) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1',
    );
  }

  /** Fences out whoever was before. @returns the new epoch */
  open(id: string): number {
    this.#open.run(id);
    return this.#epoch.first(id)?.[0] ?? 0;
  }

  /** @throws PublisherFenced */
  mustHold(id: string, epoch: number): void {
    if (this.#epoch.first(id)?.[0] !== epoch) throw new PublisherFenced(id);
  }
}
