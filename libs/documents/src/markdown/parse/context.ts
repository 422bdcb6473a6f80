import type { Block, ContentRef } from '@bindery/contracts/document';
import { urlRef } from '../../model/build.ts';
import type { PageEnv } from './tokenizer.ts';

/** Why an address stands in a page: it decides which kinds of reference make sense. */
export type LinkContext = 'link' | 'image' | 'file' | 'page' | 'reusable-content';

/** Turns an address of the markdown into a reference; undefined leaves it an address. */
export type ResolveLink = (href: string, context: LinkContext) => ContentRef | undefined;

/** What the readers of blocks and inlines share. */
export interface ParseContext {
  readonly env: PageEnv;
  readonly resolve: (href: string, context: LinkContext) => ContentRef;
  /** Bodies of footnotes by label, and which labels were used. */
  readonly footnotes: Map<string, Block[]>;
  readonly usedFootnotes: Set<string>;
  /** While bodies of footnotes are read: references inside them are text, so that bodies never contain themselves. */
  readingFootnotes: boolean;
  /** Labels of link definitions that a link used. */
  readonly usedDefinitions: Set<string>;
  readonly style: DocumentStyle;
  /** Styles whose first occurrence was met, whether usual or not. */
  readonly seenStyles: Set<keyof DocumentStyle>;
}

/**
 * How the author writes what markdown lets one write in several ways; kept in `data.style` of the document when it is not
 * the dialect's usual way, so that pages come back as they were written.
 */
export interface DocumentStyle {
  /** Bullet of the first list; usually `*`. */
  bullet?: '-' | '+';
  /** After the number of the first ordered list; usually `.`. */
  delimiter?: ')';
  /** `ones`: every item has the number of the first one. */
  numbering?: 'ones';
  /** Around the first emphasis; usually `_`. */
  emphasis?: '*';
  /** The first divider; usually `***`. */
  divider?: string;
  /** Cells of pipe tables are not padded to the width of their column. */
  table?: 'compact';
  /** Links whose text is their address are `<address>`. */
  autolink?: true;
}

export function createContext(env: PageEnv, resolveLink: ResolveLink | undefined): ParseContext {
  return {
    env,
    resolve: (href, context) => resolveLink?.(href, context) ?? urlRef(href),
    footnotes: new Map(),
    usedFootnotes: new Set(),
    readingFootnotes: false,
    usedDefinitions: new Set(),
    style: {},
    seenStyles: new Set(),
  };
}
