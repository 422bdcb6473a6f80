import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseSummary, type SummaryEntry, type SummaryGroup, serializeSummary } from '@bindery/documents';

/** A page of the tree, as the table of contents shows it. */
export interface PageToList {
  readonly id: string;
  readonly kind: 'document' | 'group' | 'link';
  readonly title: string;
  readonly linkTitle?: string;
  /** Where it leads: the path of its file, or an address. Absent for groups. */
  readonly path?: string;
  readonly url?: string;
  readonly children: readonly PageToList[];
}

/** A title as it comes back from a heading or a table of contents. */
export const plainTitle = (title: string): string => title.replace(/\s+/g, ' ').trim() || 'Untitled';

/** A path that an address could be taken for begins with `./`. */
const listed = (path: string): string => (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(path) ? `./${path}` : path);

const entryOf = (page: PageToList): SummaryEntry => ({
  title: plainTitle(page.title),
  ...(page.path === undefined ? {} : { path: listed(page.path) }),
  ...(page.url === undefined ? {} : { url: page.url }),
  ...(page.linkTitle === undefined ? {} : { linkTitle: page.linkTitle }),
  children: page.children.map(entryOf),
});

/** What a reader sees of a table of contents: a shorter title may stand in quotes, or alone. */
const shownOf = (summary: string): unknown => {
  const entry = ({ title, linkTitle, path, url, children }: SummaryEntry): unknown => [
    linkTitle ?? title,
    path === undefined ? undefined : posix.normalize(path),
    url,
    children.map(entry),
  ];
  return parseSummary(summary).groups.map(({ title, entries }) => [title, entries.map(entry)]);
};

/**
 * The table of contents of a space: groups are headings, and a divider ends a group before pages that are in none. A table
 * that says the same already is left as it is.
 * @param pages top level, in order
 * @param existing the file as it is
 */
export const writeSummary = (pages: readonly PageToList[], existing?: string): string => {
  const groups: { title?: string; entries: SummaryEntry[] }[] = [];
  let open: { title?: string; entries: SummaryEntry[] } | undefined;
  for (const page of pages) {
    if (page.kind === 'group') {
      groups.push({ title: plainTitle(page.title), entries: page.children.map(entryOf) });
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = { entries: [] };
      groups.push(open);
    }
    open.entries.push(entryOf(page));
  }
  const written = stable(groups);
  if (existing !== undefined && isDeepStrictEqual(shownOf(existing), shownOf(written))) return existing;
  return written;
};

/** Titles that markdown reads otherwise than they were written settle after a round. */
const stable = (groups: readonly SummaryGroup[]): string => {
  let written = serializeSummary({ groups });
  for (let round = 0; round < 3; round += 1) {
    const again = serializeSummary(parseSummary(written));
    if (again === written) break;
    written = again;
  }
  return written;
};
