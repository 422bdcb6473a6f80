import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type SearchIndex, SearchUnavailable } from '../port.ts';
import { SqliteSearchIndex } from './sqlite/search-index.ts';

/** Options of {@link openSqliteSearchIndex}. */
export interface SqliteSearchIndexOptions {
  /** The index file; created, with its folder, when absent. One process writes it. */
  readonly path: string;
}

/**
 * The search index on SQLite FTS5: one local file that is fed from the events and may be lost at any time.
 * @throws SearchIndexUnusable when the file is damaged, foreign or of another version
 * @throws SearchUnavailable when it cannot be opened
 */
export const openSqliteSearchIndex = async (options: SqliteSearchIndexOptions): Promise<SearchIndex> => {
  try {
    mkdirSync(dirname(options.path), { recursive: true });
  } catch (cause) {
    throw new SearchUnavailable(`the folder of ${options.path} cannot be created`, { cause });
  }
  return new SqliteSearchIndex(options.path);
};
