import type { SearchHit, SearchSection } from '../../port.ts';
import { matchingSections } from '../../text/excerpt.ts';
import type { Term } from '../../text/query.ts';
import type { Database } from './database.ts';
import type { Ranked } from './ranking.ts';

/** The found pages as the port describes them, in the same order. */
export const hitsOf = (database: Database, ranked: readonly Ranked[], terms: readonly Term[]): readonly SearchHit[] =>
  ranked.flatMap(({ key, score }) => {
    const row = database.first(
      `SELECT s.id, p.page, p.title, p.path, p.ancestors, p.description, p.sections FROM pages p JOIN spaces s ON s.number = p.space
       WHERE p.key = ? AND p.title IS NOT NULL`,
      key,
    );
    if (row === undefined) return [];
    const [spaceId, pageId, title, path, ancestors, description, sections] = row.map(String);
    const stored: readonly SearchSection[] = JSON.parse(sections ?? '[]');
    return [
      {
        spaceId: spaceId ?? '',
        pageId: pageId ?? '',
        title: title ?? '',
        path: path ?? '',
        ancestors: JSON.parse(ancestors ?? '[]'),
        description: description ?? '',
        score,
        sections: matchingSections(stored, terms),
      },
    ];
  });
