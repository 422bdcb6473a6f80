import { mkdirSync, rmSync } from 'node:fs';
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

/**
 * The same, but an index that cannot be used (damaged, of another version) is made anew and empty: it is fed from the events.
 * @param onRenewed told why
 * @throws SearchUnavailable when it cannot be opened
 */
export const openRenewableSearchIndex = async (
  options: SqliteSearchIndexOptions & { readonly onRenewed: (reason: unknown) => void },
): Promise<SearchIndex> => {
  try {
    return await openSqliteSearchIndex(options);
  } catch (error) {
    if (Object(error).code !== 'search.unusable') throw error;
    options.onRenewed(error);
    for (const suffix of ['', '-wal', '-shm']) rmSync(options.path + suffix, { force: true });
    return openSqliteSearchIndex(options);
  }
};
