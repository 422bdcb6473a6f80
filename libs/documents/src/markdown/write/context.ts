import type { Block, ContentRef, JSONDocument } from '@bindery/contracts/document';
import type { DocumentStyle, LinkContext } from '../parse/context.ts';

/** Turns a reference into the address that stands in the markdown. */
export type ResolveRef = (ref: ContentRef, context: LinkContext) => string;

export interface WriteContext {
  readonly address: (ref: ContentRef, context: LinkContext) => string;
  readonly style: DocumentStyle;
  /** Bodies of annotations in the order of their numbers; written at the end of the page. */
  readonly footnotes: Block[][];
  /** Line breaks are `<br>`: in headings, table cells and captions. */
  readonly oneLine: boolean;
}

/** Addresses for references when the caller knows no better. */
export function defaultAddress(ref: ContentRef): string {
  switch (ref.kind) {
    case 'url':
      return ref.url;
    case 'file':
      return `/files/${ref.file}`;
    case 'page':
      return `/pages/${ref.page}`;
    case 'anchor':
      return `${ref.page === undefined ? '' : `/pages/${ref.page}`}#${ref.anchor}`;
    case 'user':
      return `/users/${ref.user}`;
    case 'collection':
      return `/collections/${ref.collection}`;
    case 'space':
      return `/spaces/${ref.space}`;
    case 'reusable-content':
      return `/reusable-content/${ref.reusableContent}`;
    case 'tag':
      return `/tags/${ref.tag}`;
    default:
      return `/openapi/${ref.spec}`;
  }
}

/** The style that reading the document's source found; other values are ignored. */
export function styleOf(document: JSONDocument): DocumentStyle {
  const given = document.data.style;
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return {};
  const style: DocumentStyle = {};
  if (given.bullet === '-' || given.bullet === '+') style.bullet = given.bullet;
  if (given.delimiter === ')') style.delimiter = ')';
  if (given.numbering === 'ones') style.numbering = 'ones';
  if (given.emphasis === '*') style.emphasis = '*';
  if (given.table === 'compact') style.table = 'compact';
  if (given.autolink === true) style.autolink = true;
  const { divider } = given;
  if (typeof divider === 'string' && /^(?:-{3,80}|\*{3,80}|_{3,80})$/.test(divider)) style.divider = divider;
  return style;
}
