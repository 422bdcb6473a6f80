import { createHash } from 'node:crypto';
import { limits } from '@bindery/contracts';
import { detectRenames, type PlannedPage, plainTitle } from '@bindery/git-sync';
import type { RevisionTree } from '../revisions/index.ts';
import type { KnownPlaces } from './places.ts';

/**
 * Makes ids that are the same on every attempt: an import that is done again, because the one before it was cut off or ran
 * into a change, makes the same pages and not others beside them.
 */
export const createIds = (spaceId: string, since: string) => {
  const used = new Map<string, number>();
  return (...names: readonly string[]): string => {
    const name = JSON.stringify(names);
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    const digest = createHash('sha256')
      .update(JSON.stringify([spaceId, since, name, count]))
      .digest('hex');
    return `g${digest.slice(0, 23)}`;
  };
};
export type MakeId = ReturnType<typeof createIds>;

export interface IdentityInput {
  readonly planned: readonly PlannedPage[];
  /** Object ids by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly places: KnownPlaces;
  /** What the repository said at the last sync. */
  readonly base: RevisionTree;
  readonly makeId: MakeId;
  readonly textOf: {
    readonly gone: (pageId: string, path: string) => Promise<string | undefined>;
    readonly added: (path: string) => Promise<string | undefined>;
  };
}

/**
 * Who is who: the id of each planned page, by its key. A file keeps its page by path, and by content when it was renamed;
 * groups, links and titles without a file by what they say.
 */
export const identify = async (input: IdentityInput): Promise<ReadonlyMap<string, string>> => {
  const { planned, files, places, base, makeId } = input;
  const idByPath = new Map<string, string>();
  for (const { kind, id, path } of places.values())
    if (kind === 'page' && path !== '' && base.page(id) !== undefined) idByPath.set(path, id);
  const wanted = new Set(
    planned.flatMap(({ kind, path }) => (kind === 'document' && path !== undefined ? [path] : [])),
  );
  const gone = [...idByPath].filter(([path]) => !wanted.has(path));
  const added = [...wanted].filter((path) => !idByPath.has(path));
  const renames = await detectRenames(
    gone.map(([path, id]) => ({ path, oid: places.get(id)?.oid ?? '' })),
    added.map((path) => ({ path, oid: files.get(path) ?? '' })),
    {
      gone: ({ path }) => input.textOf.gone(idByPath.get(path) ?? '', path),
      added: ({ path }) => input.textOf.added(path),
    },
  );
  for (const [from, to] of renames) {
    const id = idByPath.get(from);
    if (id !== undefined) idByPath.set(to, id);
  }

  // What has no file is told apart by kind, place and words.
  const likeness = (kind: string, parent: string | null, words: string): string =>
    JSON.stringify([kind, parent, words]);
  const unfiled = new Map<string, string[]>();
  for (const page of base.walk()) {
    if ((places.get(page.id)?.path ?? '') !== '') continue;
    const parent = page.type === 'group' ? null : page.parent;
    const key = likeness(page.type, parent, page.metadata.title);
    unfiled.set(key, [...(unfiled.get(key) ?? []), page.id]);
  }
  const ids = new Map<string, string>();
  for (const page of planned) {
    const known = page.kind === 'document' && page.path !== undefined ? idByPath.get(page.path) : undefined;
    if (known !== undefined) {
      ids.set(page.key, known);
      continue;
    }
    const parent = page.parent === null ? null : (ids.get(page.parent) ?? null);
    const words = plainTitle(page.label ?? '').slice(0, limits.page_.title);
    const like =
      page.kind === 'document' && page.path !== undefined
        ? undefined
        : unfiled.get(likeness(page.kind, parent, words))?.shift();
    const made = makeId(
      page.kind,
      page.path ?? '',
      parent ?? '',
      page.label ?? '',
      JSON.stringify(page.target ?? null),
    );
    ids.set(page.key, like ?? made);
  }
  return ids;
};
