/** A file that is gone, or one that is new, with what tells whether the one became the other. */
export interface RenameCandidate {
  readonly path: string;
  readonly oid: string;
}

/** Pairs that are compared line by line at most; with more, only identical files are found, as git does. */
const maxPairs = 20_000;
/** Share of lines that both have, from which a file counts as the other one. As git's default. */
const threshold = 0.5;

const linesOf = (text: string): Map<string, number> => {
  const lines = new Map<string, number>();
  for (const line of text.split('\n')) {
    const plain = line.trim();
    if (plain !== '') lines.set(plain, (lines.get(plain) ?? 0) + plain.length);
  }
  return lines;
};
const sizeOf = (lines: ReadonlyMap<string, number>): number => [...lines.values()].reduce((sum, it) => sum + it, 0);

/** How much of two texts is the same, 0 to 1, weighed by the length of lines. */
export const similarity = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number => {
  const size = Math.max(sizeOf(a), sizeOf(b));
  if (size === 0) return 0;
  let common = 0;
  for (const [line, weight] of a) common += Math.min(weight, b.get(line) ?? 0);
  return common / size;
};

/**
 * Finds out which files were renamed: the same bytes under another path first, then texts that are much alike, the most
 * alike first.
 * @param textOf the text of a file that is gone, or new; undefined when it cannot be had
 * @returns new path by old path
 */
export const detectRenames = async (
  gone: readonly RenameCandidate[],
  added: readonly RenameCandidate[],
  textOf: {
    readonly gone: (file: RenameCandidate) => Promise<string | undefined>;
    readonly added: (file: RenameCandidate) => Promise<string | undefined>;
  },
): Promise<ReadonlyMap<string, string>> => {
  const renames = new Map<string, string>();
  const left = new Map(added.map((file) => [file.path, file]));
  const byOid = Map.groupBy(added, ({ oid }) => oid);
  const remaining: RenameCandidate[] = [];
  for (const file of gone) {
    const same = byOid.get(file.oid)?.find(({ path }) => left.has(path));
    if (same === undefined) remaining.push(file);
    else {
      renames.set(file.path, same.path);
      left.delete(same.path);
    }
  }
  if (remaining.length === 0 || left.size === 0 || remaining.length * left.size > maxPairs) return renames;
  const read = async (
    files: Iterable<RenameCandidate>,
    text: (file: RenameCandidate) => Promise<string | undefined>,
  ) => {
    const found: { path: string; lines: Map<string, number> }[] = [];
    for (const file of files) {
      const content = await text(file);
      if (content !== undefined) found.push({ path: file.path, lines: linesOf(content) });
    }
    return found;
  };
  const before = await read(remaining, textOf.gone);
  const after = await read(left.values(), textOf.added);
  const pairs = before.flatMap((old) =>
    after.map((now) => ({ from: old.path, to: now.path, score: similarity(old.lines, now.lines) })),
  );
  pairs.sort((a, b) => b.score - a.score || (a.from < b.from ? -1 : 1) || (a.to < b.to ? -1 : 1));
  for (const { from, to, score } of pairs) {
    if (score < threshold) break;
    if (renames.has(from) || !left.has(to)) continue;
    renames.set(from, to);
    left.delete(to);
  }
  return renames;
};
