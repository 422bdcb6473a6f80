import type { JSONDocument } from '@bindery/contracts/document';
import { parseMarkdown } from '../markdown/parse/index.ts';

/** The document of a page given as markdown. */
export const parsePage = (markdown: string): JSONDocument => parseMarkdown(markdown).document;
