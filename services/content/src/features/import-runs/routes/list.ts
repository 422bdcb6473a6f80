import { limits } from '@bindery/contracts';
import type { Scalar, Stored, Where } from '@bindery/read-store';
import { listIdentity } from '@bindery/service-kit';
import type { VisibleSpaces } from '../../access/index.ts';
import type { ImportRunDocument } from '../read-model.ts';
import type { StartDeps } from './start.ts';

/** Imports that one page looks at; it is shorter than its limit when most of them are in spaces that are hidden. */
const mostLooked = 5_000;
const mostRead = 1_000;

/** Newest first, and only those in spaces that the caller may view. A page costs what it shows and passes over. */
export const listRuns = async (
  { runs, spaces, cursors }: Pick<StartDeps, 'runs' | 'spaces' | 'cursors'>,
  visible: VisibleSpaces,
  where: Where,
  { page, limit = limits.page.default }: { readonly page?: string; readonly limit?: number },
): Promise<{
  readonly items: readonly Stored<ImportRunDocument>[];
  readonly next?: { readonly page: string };
  readonly count?: number;
}> => {
  const list = listIdentity('listImportRuns', where);
  const count = visible.all ? { count: await runs.count(where) } : {};
  if (limit === 0) return { items: [], ...count };
  const seen = new Map<string, boolean>();
  const items: Stored<ImportRunDocument>[] = [];
  let position: readonly Scalar[] | undefined = page === undefined ? undefined : cursors.decode(list, page);
  for (let looked = 0; looked < mostLooked; ) {
    const read = Math.min(limit + 1, mostRead);
    const found = await runs.query({
      where,
      orderBy: [{ field: 'createdAt', direction: 'desc' }],
      limit: read,
      ...(position ? { after: position } : {}),
    });
    const fresh = [...new Set(found.map(({ document }) => document.spaceId))].filter((id) => !seen.has(id));
    const known = await spaces.getMany(fresh);
    for (const id of fresh) {
      const space = known.get(id)?.document;
      seen.set(id, space !== undefined && visible.sees(space));
    }
    for (const stored of found) {
      if (seen.get(stored.document.spaceId) === true) {
        if (items.length === limit && position !== undefined)
          return { items, ...count, next: { page: cursors.encode(list, position) } };
        items.push(stored);
      }
      position = [stored.document.createdAt, stored.id];
    }
    if (found.length < read) return { items, ...count };
    looked += found.length;
  }
  return { items, ...count, ...(position ? { next: { page: cursors.encode(list, position) } } : {}) };
};
