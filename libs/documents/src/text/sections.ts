import type { AnyBlock, Heading, JSONDocument } from '@bindery/contracts/document';
import { allBlocks } from '../model/children.ts';
import { ownText, textOfPhrasing } from './plain.ts';
import { slugify } from './slug.ts';

/** A part of a page, from one heading to the next. */
export interface Section {
  /** Anchor in the page, unique; empty for what stands above the first heading. */
  readonly id: string;
  readonly title: string;
  /** 0 above the first heading, else 1 to 3 as in the heading's type. */
  readonly level: 0 | 1 | 2 | 3;
  readonly text: string;
}

const isHeading = (block: AnyBlock): block is Heading => block.type.startsWith('heading-');

/**
 * Splits a page at its headings, those inside tabs, hints and steps included. The first section always exists and carries
 * the page's title.
 */
export function sections(document: JSONDocument, title: string): Section[] {
  const taken = new Set<string>();
  // Where the search for a free ending goes on, so that ten thousand equal headings do not each begin at 1.
  const endings = new Map<string, number>();
  const unique = (wanted: string): string => {
    let id = wanted;
    let count = endings.get(wanted) ?? 1;
    for (; taken.has(id); count++) id = `${wanted}-${count}`;
    endings.set(wanted, count);
    taken.add(id);
    return id;
  };
  const found: { id: string; title: string; level: Section['level']; lines: string[] }[] = [
    { id: '', title, level: 0, lines: [] },
  ];
  for (const block of allBlocks(document.nodes)) {
    if (isHeading(block)) {
      const words = textOfPhrasing(block.nodes).trim();
      const level = Number(block.type.slice(-1)) as 1 | 2 | 3;
      found.push({ id: unique(block.data?.id ?? slugify(words)), title: words, level, lines: [] });
      continue;
    }
    const words = ownText(block).trim();
    if (words !== '') found.at(-1)?.lines.push(words);
  }
  return found.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n') }));
}
