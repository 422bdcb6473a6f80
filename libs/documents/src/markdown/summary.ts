import type { Block, JSONDocument, List, ListItem, Phrasing } from '@bindery/contracts/document';
import { plainParagraph, text, urlRef } from '../model/build.ts';
import { textOfPhrasing } from '../text/plain.ts';
import { parseMarkdown } from './parse/index.ts';
import { serializeMarkdown } from './write/index.ts';

/** A page or link of the table of contents. */
export interface SummaryEntry {
  readonly title: string;
  /** Path of the page's file from the root of the space; absent for links and for titles without a page. */
  readonly path?: string;
  /** Address outside of the space. */
  readonly url?: string;
  /** Shorter title for the navigation. */
  readonly linkTitle?: string;
  readonly children: readonly SummaryEntry[];
}
export interface SummaryGroup {
  /** Absent for the pages above the first group, and for those after a divider, which ends a group. */
  readonly title?: string;
  readonly entries: readonly SummaryEntry[];
}
export interface Summary {
  readonly groups: readonly SummaryGroup[];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

function entryOf(item: ListItem): SummaryEntry {
  const first = item.nodes.find((node) => node.type === 'paragraph');
  const nodes: readonly Phrasing[] = first?.nodes ?? [];
  const link = nodes.find((node) => node.object === 'inline' && node.type === 'link');
  const children = item.nodes.filter(isList).flatMap((list) => list.nodes.map(entryOf));
  const title = textOfPhrasing(nodes).replace(/\s+/g, ' ').trim();
  if (link?.object !== 'inline' || link.type !== 'link' || link.data.ref.kind !== 'url') return { title, children };
  const address = link.data.ref.url;
  const target = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)
    ? { url: address }
    : { path: decoded(address.replace(/#.*$/, '')) };
  return { title, ...target, ...(link.data.title === undefined ? {} : { linkTitle: link.data.title }), children };
}

const isList = (block: Block): block is List => block.type.startsWith('list-');

/** Reads a `SUMMARY.md`: lists of links below optional headings or dividers. Anything else in it is skipped. */
export function parseSummary(markdown: string): Summary {
  const { document } = parseMarkdown(markdown);
  const groups: { title?: string; entries: SummaryEntry[] }[] = [];
  for (const block of document.nodes) {
    if (block.type === 'heading-1' || block.type === 'heading-2' || block.type === 'heading-3')
      groups.push({ title: textOfPhrasing(block.nodes).trim(), entries: [] });
    if (block.type === 'divider') groups.push({ entries: [] });
    if (!isList(block)) continue;
    if (groups.length === 0) groups.push({ entries: [] });
    groups.at(-1)?.entries.push(...block.nodes.map(entryOf));
  }
  return { groups };
}

function itemOf(entry: SummaryEntry): ListItem {
  const address = entry.url ?? entry.path?.replace(/[%#]/g, encodeURIComponent);
  const label: Phrasing[] = [text(entry.title)];
  const title = entry.linkTitle === undefined ? {} : { title: entry.linkTitle };
  const nodes: Block[] =
    address === undefined
      ? [plainParagraph(entry.title)]
      : [
          {
            object: 'block',
            type: 'paragraph',
            nodes: [{ object: 'inline', type: 'link', data: { ref: urlRef(address), ...title }, nodes: label }],
          },
        ];
  if (entry.children.length > 0) nodes.push(listOf(entry.children));
  return { object: 'block', type: 'list-item', nodes };
}

const listOf = (entries: readonly SummaryEntry[]): List => ({
  object: 'block',
  type: 'list-unordered',
  nodes: entries.map(itemOf),
});

/** What stands before a group: its title, or what ends the group before it. */
const openingOf = (group: SummaryGroup, index: number): Block[] => {
  if (group.title !== undefined) return [{ object: 'block', type: 'heading-1', nodes: [text(group.title)] }];
  return index === 0 ? [] : [{ object: 'block', type: 'divider', isVoid: true }];
};

/** Writes a `SUMMARY.md`, the inverse of `parseSummary`. */
export function serializeSummary(summary: Summary): string {
  const nodes = summary.groups.flatMap((group, index): Block[] => [
    ...openingOf(group, index),
    ...(group.entries.length === 0 ? [] : [listOf(group.entries)]),
  ]);
  const document: JSONDocument = { object: 'document', data: {}, nodes };
  return serializeMarkdown(document, { title: 'Table of contents' });
}
